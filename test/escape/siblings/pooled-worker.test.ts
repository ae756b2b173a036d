/**
 * Parked workers: what a run leaves behind for the next, what it can learn about the previous one, and a forged
 * end of a run.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import type { RunRequest } from '../../../src/index.ts'
import { isWarm, runParked, warmUpFor } from '../../support/run-parked.ts'
import { runPatiently } from '../../support/patient-run.ts'
import { bun, node, python, shell, useLazaret } from '../../support/use-lazaret.ts'

const guests = await useLazaret({ pools: {} })
const run = runParked(guests.lazaret, guests.run)
const MiB = 1024 * 1024

/** The name of everything that is left behind, and the System V key, because System V has numbers instead of names. */
const mark = 'leftover-mark'
const key = 1_279_351_361
const leftover = new RegExp(`${mark}|${key}`)

interface Habits {
  readonly leave: string
  /** Prints what it finds, without the searched words themselves. */
  readonly look: string
}

const inShell: Habits = {
  leave: `
for folder in . "$HOME" /tmp "\${TMPDIR:-/tmp}" /var/tmp /dev/shm; do echo x 2>/dev/null > "$folder/${mark}"; done
for file in .bashrc .profile .bash_profile .shrc; do echo 'echo ${mark}' > "$HOME/$file"; done
mkfifo fifo-${mark}
export LEFT=${mark} ENV="$HOME/.profile" BASH_ENV="$HOME/.profile"
alias ls='echo ${mark}'
sh -c 'trap "" TERM HUP; sleep 60; :' ${mark} >/dev/null 2>&1 &
`,
  look: `
env; alias
command ls -a . "$HOME" /tmp "\${TMPDIR:-/tmp}" /var/tmp /dev/shm 2>/dev/null
cat /proc/[0-9]*/cmdline /proc/sysvipc/* 2>/dev/null | tr '\\0' ' '
exit 0
`,
}

const inPython: Habits = {
  leave: `
import builtins, ctypes, json, os, socket, subprocess, sys
for folder in ('.', os.environ['HOME'], '/tmp', os.environ.get('TMPDIR', '/tmp'), '/var/tmp', '/dev/shm'):
    try: open(folder + '/${mark}', 'w').close()
    except OSError: pass
os.environ['LEFT'] = builtins.left = '${mark}'
sys.modules['left'] = type(sys)('${mark}')
sys.path.append('/${mark}')
sys.meta_path.append(type('${mark}'.replace('-', '_'), (), {'find_spec': lambda *_: None})())
json.dumps = lambda *_, **__: '${mark}'
for number, more in ((29, (4096, 0o1666)), (68, (0o1666,)), (64, (1, 0o1666))):
    ctypes.CDLL(None).syscall(number, ${key}, *more)
try:
    held = socket.socket(socket.AF_UNIX)
    held.bind('\\0${mark}')
    held.listen()
    os.set_inheritable(held.fileno(), True)
except OSError: pass
quiet = dict(stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, close_fds=False)
subprocess.Popen(['sh', '-c', 'trap "" TERM HUP; sleep 60; :', '${mark}'], start_new_session=True, **quiet)
`,
  look: `
import builtins, json, os, sys, glob
def read(path):
    try: return open(path, 'rb').read().decode('latin1')
    except OSError: return ''
def names(path):
    try: return os.listdir(path)
    except OSError: return []
print(os.environ, vars(builtins).keys(), getattr(builtins, 'left', ''), list(sys.modules.values()), sys.path, sys.meta_path)
print(json.dumps({}), read('/proc/net/unix'))
print([names(path) for path in ('.', os.environ['HOME'], '/tmp', os.environ.get('TMPDIR', '/tmp'), '/var/tmp', '/dev/shm')])
print([read(path) for path in glob.glob('/proc/[0-9]*/cmdline') + glob.glob('/proc/sysvipc/*')])
`,
}

const inJavaScript: Habits = {
  leave: `
{
  const fs = process.getBuiltinModule('node:fs'), { spawn } = process.getBuiltinModule('node:child_process')
  for (const folder of ['.', process.env.HOME, '/tmp', process.env.TMPDIR ?? '/tmp', '/var/tmp', '/dev/shm'])
    try { fs.writeFileSync(folder + '/${mark}', '') } catch {}
  spawn('sh', ['-c', 'trap "" TERM HUP; sleep 60; :', '${mark}'], { detached: true, stdio: 'ignore' }).unref()
  process.env.LEFT = process.title = globalThis.left = '${mark}'
  for (const { prototype } of [Object, Array, Function, Map, Promise, String])
    Object.defineProperty(prototype, 'left', { value: '${mark}', writable: true })
  JSON.stringify = () => '${mark}'
  fs.left = '${mark}'
}
`,
  look: `
{
  const fs = process.getBuiltinModule('node:fs')
  const names = (folder) => { try { return fs.readdirSync(folder) } catch { return [] } }
  const read = (path) => { try { return fs.readFileSync(path, 'latin1') } catch { return '' } }
  const found = [process.title, JSON.stringify(1), globalThis.left, fs.left, Object.entries(process.env), Object.keys(globalThis)]
  for (const { prototype } of [Object, Array, Function, Map, Promise, String]) found.push(prototype.left)
  for (const folder of ['.', process.env.HOME, '/tmp', process.env.TMPDIR ?? '/tmp', '/var/tmp', '/dev/shm']) found.push(names(folder))
  for (const pid of names('/proc').filter((name) => +name)) found.push(read('/proc/' + pid + '/cmdline'))
  for (const name of names('/proc/sysvipc')) found.push(read('/proc/sysvipc/' + name))
  fs.writeSync(1, found.join(' '))
}
`,
}

const all = [
  { guest: shell, habits: inShell },
  { guest: python, habits: inPython },
  { guest: bun, habits: inJavaScript },
  { guest: node, habits: inJavaScript },
]

for (const { guest, habits } of all) {
  test(`${guest.runtime}: what a run leaves behind is in none of the next five workers, which were parked during it`, async () => {
    await warmUpFor(guests.lazaret, { ...guest, code: '' }, 6)
    const left = await guests.run({ ...guest, code: `${habits.leave}${habits.look}` })
    // The counter-check: the search finds the words where they are.
    assert.match(left.stdout, leftover, left.stderr)
    assert.deepEqual([left.outcome, isWarm(left)], [{ kind: 'completed', exitCode: 0 }, true])
    const namespaces = new Set([left.receipt.observed['ns_pid']])
    for (let time = 0; time < 5; time++) {
      const next = await guests.run({ ...guest, code: habits.look })
      const { stdout, stderr, outcome, receipt } = next
      assert.deepEqual([outcome, isWarm(next)], [{ kind: 'completed', exitCode: 0 }, true], stderr)
      assert.doesNotMatch(stdout, leftover)
      assert.equal(stderr, '')
      namespaces.add(receipt.observed['ns_pid'])
    }
    assert.equal(namespaces.size, guests.level === 'restricted' ? 1 : 6)
  })
}

/** Its own words, which are in its memory too, do not match the pattern. */
const scanMemory = `
import re
hits = 0
with open('/proc/self/maps') as maps, open('/proc/self/mem', 'rb', 0) as memory:
    for line in maps:
        bounds, rights = line.split()[:2]
        start, end = (int(bound, 16) for bound in bounds.split('-'))
        if not rights.startswith('r') or start >= 1 << 47: continue
        try:
            memory.seek(start)
            hits += len(re.findall(rb'secret-[0-9]{12}-of', memory.read(end - start)))
        except OSError: pass
hits`

test('python: the memory of a worker holds nothing of the request before it', async () => {
  const secret = 'secret-482915730264-of'
  const request: RunRequest = {
    ...python,
    code: `mine = '${secret}'\n${scanMemory}`,
    input: { secret },
    args: [secret],
    stdin: secret,
    files: { [secret]: secret },
    functions: { look: () => secret },
  }
  await warmUpFor(guests.lazaret, request, 6)
  const { value, outcome } = await guests.run(request)
  // If /proc is the host's, a guest may not even open its own file there.
  if (guests.level === 'restricted') return assert.match(JSON.stringify(outcome), /PermissionError/)
  assert.deepEqual(outcome, { kind: 'completed', exitCode: 0 })
  assert.ok(Number(value) > 0, `it found itself ${String(value)} times`)
  for (let time = 0; time < 5; time++) {
    const next = await guests.run({ ...python, code: scanMemory })
    assert.deepEqual([next.value, isWarm(next)], [0, true], next.stderr)
  }
})

const pythonFrames = `
import json, os, struct, sys, threading, time
def send(message):
    data = message if isinstance(message, bytes) else json.dumps(message).encode()
    os.write(3, struct.pack('<I', len(data)) + data)
def say(text): os.write(1, text.encode())
`
const javascriptFrames = `
const fs = await import('node:fs'), { spawn } = await import('node:child_process')
const send = (message) => {
  const data = Buffer.from(typeof message === 'string' ? message : JSON.stringify(message))
  const head = Buffer.alloc(4)
  head.writeUInt32LE(data.length)
  fs.writeSync(3, Buffer.concat([head, data]))
}
const say = (text) => fs.writeSync(1, text)
`

/** Prints, reports its end, and continues in every way that it can. */
const goOn = {
  python: `${pythonFrames}
say('before')
def late(): time.sleep(5); say('late')
if os.fork() == 0:
    os.setsid()
    late()
    os._exit(0)
threading.Thread(target=late).start()
send({'type': 'end', 'exitCode': input_data})
send({'type': 'end', 'exitCode': 99})
send({'type': 'value', 'value': 'late', 'text': 'late', 'truncated': False})
while True:
    time.sleep(5)
    if os.fork() == 0: os.setsid()
    say('late')
`,
  javascript: `${javascriptFrames}
say('before')
spawn('sh', ['-c', 'trap "" TERM HUP; sleep 5; echo late'], { detached: true, stdio: 'inherit' }).unref()
setTimeout(() => say('late'), 5000)
send({ type: 'end', exitCode: input })
send({ type: 'end', exitCode: 99 })
send({ type: 'value', value: 'late', text: 'late', truncated: false })
while (true) { Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5000); say('late') }
`,
}

const forgers = [
  { guest: python, frames: pythonFrames, goOn: goOn.python, leave: 'os._exit(9)' },
  { guest: bun, frames: javascriptFrames, goOn: goOn.javascript, leave: 'process.exit(9)' },
  { guest: node, frames: javascriptFrames, goOn: goOn.javascript, leave: 'process.exit(9)' },
]
const roads = { 'that waited': run, 'of its own': guests.run }

for (const { guest, frames, goOn: code, leave } of forgers) {
  for (const [whose, runOn] of Object.entries(roads)) {
    describe(`${guest.runtime}: in a worker ${whose}`, () => {
      // A cold run although workers are parked: with a variable, none of them can serve it.
      const more = whose === 'that waited' ? {} : { env: { LANG: 'C.UTF-8' } }

      test('a forged end ends the run: earlier output is kept, and nothing continues', async () => {
        for (const exitCode of [0, 7, 255]) {
          const result = await runOn({ ...guest, ...more, code, input: exitCode, limits: { wallMs: 60_000 } })
          assert.deepEqual(result.outcome, { kind: 'completed', exitCode })
          assert.deepEqual([result.stdout, result.stderr, 'value' in result], ['before', '', false])
          assert.equal(isWarm(result), whose === 'that waited')
        }
        await guests.lazaret.releaseWorkers()
        await guests.leaks.check()
      })

      test('an exit code that no process can have ends nothing', async () => {
        const ends = [256, -1, 1.5, 2 ** 32, 1e300, null, '0', [], {}, true, undefined]
        const lies = ends.map((exitCode) => JSON.stringify({ type: 'end', exitCode }))
        const each =
          guest === python
            ? `for lie in input_data: send(lie.encode())\ntime.sleep(0.3)\nsay('alive')\n${leave}`
            : `for (const lie of input) send(lie); await new Promise((done) => setTimeout(done, 300)); say('alive'); ${leave}`
        const result = await runOn({ ...guest, ...more, code: `${frames}\n${each}`, input: lies })
        assert.deepEqual(
          [result.outcome, result.stdout],
          [{ kind: 'completed', exitCode: 9 }, 'alive'],
          result.stderr,
        )
      })
    })
  }
}

describe('a forged end after a limit was exceeded', () => {
  const end = `send({'type': 'end', 'exitCode': 0})\ntime.sleep(60)`

  test('output: bytes beyond the limit still count', async () => {
    for (let time = 0; time < 5; time++) {
      const code = `${pythonFrames}\nsay('x' * 2000)\n${end}`
      const { outcome, stdout } = await run({ ...python, code, limits: { outputBytes: 1000 } })
      assert.deepEqual(outcome, { kind: 'limit-exceeded', limit: 'output', allowed: 1000 })
      assert.equal(stdout, 'x'.repeat(1000))
    }
  })

  test('memory: a forged end comes too late', async () => {
    const memoryBytes = 128 * MiB
    // Without a cgroup, wait until the watchdog has scanned.
    const code = `${pythonFrames}\nheld = bytearray(b'x') * ${memoryBytes + 32 * MiB}\ntime.sleep(1)\n${end}`
    const { outcome } = await run({ ...python, code, limits: { memoryBytes, diskBytes: 16 * MiB } })
    assert.deepEqual(outcome, { kind: 'out-of-memory', limitBytes: memoryBytes })
  })

  test('time: only a real end stops the clock', async () => {
    const code = `${pythonFrames}
for number in itertools.count():
    send({'type': 'end', 'exitCode': 256})
    if number == 20: os.write(1, b'sent')
    time.sleep(0.01)`
    const { result, wallMs } = await runPatiently(run, { ...python, code: `import itertools, os\n${code}` })
    assert.deepEqual(result.outcome, { kind: 'timed-out', limit: 'wall', limitMs: wallMs })
    assert.equal(result.stdout, 'sent')
  })
})
