/** Runs that end well: values, input, files, functions, output, and what one run must not see of another. */
import { deepEqual, equal } from 'node:assert/strict'

import {
  bun,
  completes,
  everyGuest,
  generousLimits,
  greeting,
  harnessed,
  node,
  python,
  shell,
} from './case.ts'
import type { Dialect, Draft, Guest, Kind, Ticket } from './case.ts'

const sayToken: Record<Dialect, (token: string) => string> = {
  shell: (token) => `echo ${token}`,
  python: (token) => `print("${token}")`,
  javascript: (token) => `console.log('${token}')`,
}

function value({ dialect, language }: Guest, { token, index }: Ticket): Draft {
  if (dialect === 'shell')
    return {
      request: { code: sayToken.shell(token) },
      check: (result) => completes(result, { stdout: `${token}\n` }),
    }
  const enumeration = `enum Word { Token = '${token}' }\nconst two: number = 2\n;({ token: Word.Token, n: two * ${index} })`
  const object = `{"token": "${token}", "n": 2 * ${index}}`
  const code = language === 'typescript' ? enumeration : dialect === 'python' ? object : `(${object})`
  return {
    request: { code },
    check: (result) => {
      completes(result)
      deepEqual(result.value, { token, n: 2 * index })
    },
  }
}

const echoInput: Record<Dialect, string> = {
  shell: 'cat $INPUT data/file.txt; echo $1; cat',
  python: `import json, sys
print(json.dumps(input_data, separators=(',', ':')) + open('data/file.txt').read() + sys.argv[1])
print(sys.stdin.read(), end='')`,
  javascript: `const { readFileSync } = await import('node:fs')
console.log(JSON.stringify(input) + readFileSync('data/file.txt', 'utf8') + process.argv[2])
process.stdout.write(readFileSync(0, 'utf8'))`,
}

function input({ dialect }: Guest, { token, index }: Ticket): Draft {
  const stdin = `${token} `.repeat(1 + (index % 500))
  return {
    request: {
      code: echoInput[dialect],
      input: { token, list: [1, 2, index] },
      files: { 'data/file.txt': `file of ${token} ` },
      args: [token],
      stdin,
    },
    check: (result) =>
      completes(result, {
        stdout: `{"token":"${token}","list":[1,2,${index}]}file of ${token} ${token}\n${stdin}`,
      }),
  }
}

const callHost: Record<Dialect, string> = {
  shell: '',
  python: `try:
    refuse()
    said = 'nothing'
except Exception as error:
    said = str(error)
[whoAmI(), add(20, 22), later([1, 2]), said]`,
  javascript: `let said = 'nothing'
try { await refuse() } catch (error) { said = error.message }
;[await whoAmI(), await add(20, 22), await later([1, 2]), said]`,
}

function functions({ dialect }: Guest, { token }: Ticket): Draft {
  // Python has no error of that name, so its message carries it.
  const prefix = dialect === 'python' ? 'RangeError: ' : ''
  return {
    request: {
      code: callHost[dialect],
      functions: {
        whoAmI: () => token,
        add: (a, b) => Number(a) + Number(b),
        later: async (list) => Promise.resolve(list),
        refuse: () => {
          throw new RangeError(`refused to ${token}`)
        },
      },
    },
    check: (result) => {
      completes(result)
      deepEqual(result.value, [token, 42, [1, 2], `${prefix}refused to ${token}`])
    },
  }
}

const writeFiles: Record<Dialect, (token: string) => string> = {
  shell: (token) =>
    `mkdir -p out/deep; printf ${token} > out/deep/a.txt; head -c 65536 /dev/zero > out/b.bin; : > rest`,
  python: (token) => `import os
os.makedirs('out/deep')
with open('out/deep/a.txt', 'w') as file: size = file.write('${token}')
with open('out/b.bin', 'wb') as file: size = file.write(bytes(65536))
open('rest', 'w').close()`,
  javascript: (token) => `const { mkdirSync, writeFileSync } = await import('node:fs')
mkdirSync('out/deep', { recursive: true })
writeFileSync('out/deep/a.txt', '${token}')
writeFileSync('out/b.bin', Buffer.alloc(65536))
writeFileSync('rest', '')`,
}

function collect({ dialect }: Guest, { token }: Ticket): Draft {
  return {
    request: { code: writeFiles[dialect](token), collect: ['out'] },
    check: (result) => {
      completes(result)
      const files = Object.entries(result.files).map(([path, bytes]) => [
        path,
        Buffer.from(bytes).toString('latin1'),
      ])
      deepEqual(Object.fromEntries(files), { 'out/deep/a.txt': token, 'out/b.bin': '\0'.repeat(65_536) })
    },
  }
}

/** Prints all variables whose names begin with SOAK, so that those of another run would show. */
const printEnvironment: Record<Dialect, string> = {
  shell: 'env | grep ^SOAK | sort',
  python: `import os
for name in sorted(os.environ):
    if name.startswith('SOAK'): print(f'{name}={os.environ[name]}')`,
  javascript: `for (const name of Object.keys(process.env).sort())
  if (name.startsWith('SOAK')) console.log(name + '=' + process.env[name])`,
}

function environment({ dialect }: Guest, { token, index }: Ticket): Draft {
  const env = { [`SOAK_${index}`]: token, SOAK_TOKEN: `${token} in all` }
  const lines = Object.entries(env).map(([name, content]) => `${name}=${content}\n`)
  return {
    request: { code: printEnvironment[dialect], env },
    check: (result) => completes(result, { stdout: lines.join('') }),
  }
}

/** Leaves marks in every place that a later run of the same worker would see, and looks for those of an earlier one. */
const leaveMarks: Record<Dialect, string> = {
  shell: `set -eC
for mark in "\${TMPDIR:-/tmp}/mark" "$HOME/mark" /dev/shm/mark; do [ ! -e $mark ]; done
for place in "\${TMPDIR:-/tmp}" "$HOME"; do echo mark > $place/mark; done
(echo mark > /dev/shm/mark) 2>/dev/null || :
[ -z "$MARK" ]; export MARK=1; echo fresh`,
  python: `import builtins, os, sys, tempfile
assert not hasattr(builtins, 'mark') and 'mark' not in globals() and 'MARK' not in os.environ and 'mark' not in sys.modules
builtins.mark = mark = sys.modules['mark'] = os.environ['MARK'] = 'mark'
for place in [tempfile.gettempdir(), os.getcwd()]: open(place + '/mark', 'x').close()
umask = os.umask(0o77)
sys.path.insert(0, '/mark')
print('fresh' if umask == 0o22 and sys.path.count('/mark') == 1 else 'used')`,
  javascript: `const { writeFileSync } = await import('node:fs')
const { tmpdir } = await import('node:os')
if (globalThis.mark ?? process.env.MARK ?? Array.prototype.mark) throw new Error('there is a mark')
globalThis.mark = process.env.MARK = Array.prototype.mark = 'mark'
for (const place of [tmpdir(), process.cwd()]) writeFileSync(place + '/mark', '', { flag: 'wx' })
console.log('fresh')`,
}

function fresh({ dialect }: Guest): Draft {
  const code = leaveMarks[dialect]
  return { request: { code }, check: (result) => completes(result, { stdout: 'fresh\n' }) }
}

const printOpenFiles: Record<Dialect, string> = {
  shell: 'ulimit -n',
  python: 'import resource\nprint(resource.getrlimit(resource.RLIMIT_NOFILE)[1])',
  javascript: `const limits = (await import('node:fs')).readFileSync('/proc/self/limits', 'utf8')
console.log(/Max open files +\\d+ +(\\d+)/.exec(limits)[1])`,
}

function limits({ dialect }: Guest, ticket: Ticket): Draft {
  const asked = generousLimits(ticket)
  return {
    request: { code: printOpenFiles[dialect], limits: asked },
    check: (result) => {
      completes(result, { stdout: `${asked.openFilesMax}\n` })
      const held = Object.entries(result.receipt.limits).map(([name, { value: inForce }]) => [name, inForce])
      deepEqual({ ...Object.fromEntries(held), ...asked }, Object.fromEntries(held))
    },
  }
}

const printMuch: Record<Dialect, string> = {
  shell: 'i=0; while [ $i -lt 128 ]; do printf "%01024d" 0; i=$((i + 1)); done',
  python: 'for _ in range(128): print("0" * 1024, end="")',
  javascript: `for (let i = 0; i < 128; i++) process.stdout.write('0'.repeat(1024))`,
}

function wordy({ dialect }: Guest): Draft {
  let heard = 0
  return {
    request: { code: printMuch[dialect], onOutput: ({ bytes }) => void (heard += bytes.length) },
    check: (result) => {
      completes(result, { stdout: '0'.repeat(128 * 1024) })
      equal(heard, 128 * 1024)
    },
  }
}

const leaveProcesses: Record<Dialect, string> = {
  shell: '(setsid sleep 100 &); sleep 100 & echo left',
  python: `import subprocess
for own in [True, False]: child = subprocess.Popen(['sleep', '100'], start_new_session=own)
print('left')`,
  javascript: `const { spawn } = await import('node:child_process')
for (const detached of [true, false]) spawn('sleep', ['100'], { detached, stdio: 'ignore' }).unref()
console.log('left')`,
}

function leftBehind({ dialect }: Guest): Draft {
  return {
    request: { code: leaveProcesses[dialect] },
    check: (result) => completes(result, { stdout: 'left\n' }),
  }
}

const connect: Record<Dialect, (port: number) => string> = {
  shell: () => '',
  python: (port) => `import socket
try:
    with socket.create_connection(('127.0.0.1', ${port})) as server: print(server.makefile().read())
except OSError:
    print('nobody')`,
  javascript: (port) => `const { connect } = await import('node:net')
const server = connect(${port}, '127.0.0.1')
server.on('error', () => console.log('nobody'))
server.on('data', (bytes) => console.log(bytes.toString()))`,
}

function network(mode: 'none' | 'host'): Kind['draft'] {
  return ({ dialect }, { machine }) => ({
    request: { code: connect[dialect](machine.port), network: mode },
    check: (result) => completes(result, { stdout: mode === 'host' ? `${greeting}\n` : 'nobody\n' }),
  })
}

export const everydayKinds: readonly Kind[] = [
  { name: 'value', copies: 4, guests: everyGuest, draft: value },
  { name: 'input and files', copies: 2, guests: everyGuest, draft: input },
  { name: 'functions', copies: 2, guests: harnessed, draft: functions },
  { name: 'collect', copies: 2, guests: [shell, python, bun, node], draft: collect },
  { name: 'environment', copies: 2, guests: [shell, python, bun, node], draft: environment },
  { name: 'fresh', copies: 2, guests: everyGuest, draft: fresh },
  { name: 'limits', copies: 2, guests: everyGuest, draft: limits },
  { name: 'wordy', copies: 1, guests: [shell, python, bun, node], draft: wordy },
  { name: 'processes left behind', copies: 1, guests: [shell, python, bun, node], draft: leftBehind },
  { name: 'network none', copies: 1, guests: [python, node], draft: network('none') },
  { name: 'network host', copies: 1, guests: [python, bun], draft: network('host') },
]
