/** Terminals: programs that need one get one, with input and resizing. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { test } from 'node:test'

import type { SandboxProcess } from '../../../src/index.ts'
import { processesWith } from '../../support/guests/processes-with.ts'
import { useSandbox } from '../use-sandbox.ts'

const { sandbox, hasSecure } = await useSandbox()
const tty = { columns: 80, rows: 24 }

const without = (program: string) => !existsSync(`/usr/bin/${program}`) && `${program} is not installed`

/** All output so far, because a screen is drawn in pieces. */
async function shows(process: SandboxProcess, pattern: RegExp): Promise<void> {
  for await (const _ of process.streamLogs()) if (pattern.test(process.getLogs().stdout)) return
  assert.match(process.getLogs().stdout, pattern)
}

test('a command has a terminal of its size, and prints all to stdout', async () => {
  const { stdout, stderr, exitCode } = await sandbox.exec(
    'test -t 0 && test -t 1 && test -t 2 && tty; stty size; echo $TERM; echo err >&2; exit 3',
    { tty: { columns: 100, rows: 30 } },
  )
  assert.match(stdout, /^\/dev\/pts\/\d+\r\n30 100\r\nxterm-256color\r\nerr\r\n$/)
  assert.equal(stderr, '')
  assert.equal(exitCode, 3)
})

test('a command in a terminal has its session’s state, and does not change it', async () => {
  const session = await sandbox.createSession({ env: { A: `it's "1"` } })
  await session.exec('cd /tmp; f() { echo f; }; alias g=f; set -u')
  const { stdout } = await session.exec('pwd; f; g; echo "$A"; cd /; [[ -o nounset ]] && export A=2', { tty })
  assert.equal(stdout, `/tmp\r\nf\r\nf\r\nit's "1"\r\n`)
  assert.equal((await session.exec('pwd; echo "$A"')).stdout, `/tmp\nit's "1"\n`)
})

test('a command in a terminal can be timed out and aborted, with all that it has started', async () => {
  const late = await sandbox.exec('setsid sleep 65.5 & sleep 65.5', { tty, timeout: 200 })
  assert.equal(late.outcome.kind, 'timed-out')
  const abort = new AbortController()
  const onOutput = () => abort.abort()
  const aborted = await sandbox.exec('setsid sleep 65.5 & echo; sleep 65.5', {
    tty,
    signal: abort.signal,
    onOutput,
  })
  assert.equal(aborted.outcome.kind, 'cancelled')
  assert.equal((await sandbox.exec(processesWith('65[.]5'))).stdout, '')
})

test('the stdin of a command in a terminal arrives as typed input', async () => {
  const { stdout } = await sandbox.exec('read -r line; echo "got $line"', { tty, stdin: 'typed\n' })
  assert.match(stdout, /got typed\r\n$/)
})

test(
  'a command with credentials has no terminal, and the refusal says so',
  { skip: !hasSecure && 'secure commands are refused here' },
  async () => {
    await assert.rejects(sandbox.exec('true', { tty, env: { TOKEN: 't' } }), {
      code: 'INVALID_REQUEST',
      message: /tty/,
    })
  },
)

test('typed text is echoed and read', async () => {
  const process = await sandbox.startProcess('read -r line; echo "got $line"', { tty })
  await process.write('typed\n')
  await process.waitForExit()
  assert.equal(process.getLogs().stdout, 'typed\r\ngot typed\r\n')
})

test('resizing sends SIGWINCH', async () => {
  const process = await sandbox.startProcess(
    'trap "stty size" WINCH; stty size; while :; do sleep 0.01; done',
    { tty },
  )
  await process.waitForLog('24 80')
  process.resize({ columns: 120, rows: 50 })
  await process.waitForLog('50 120')
  await sandbox.killProcess(process.id)
})

test('\\x03 interrupts what runs in a terminal', async () => {
  const process = await sandbox.startProcess(
    'trap "echo int; exit 4" INT; echo ready; while :; do sleep 0.01; done',
    { tty },
  )
  await process.waitForLog('ready')
  await process.write('\x03')
  assert.deepEqual(await process.waitForExit(), { exitCode: 4 })
  assert.match(process.getLogs().stdout, /int\r\n$/)
})

test('\\x04 ends the input, and later text goes to the next program', async () => {
  const process = await sandbox.startProcess('cat; read -r line; echo "got $line"', { tty })
  await process.write('one\n\x04two\n')
  await process.waitForExit()
  assert.match(process.getLogs().stdout, /one\r\n[^]*got two\r\n$/)
})

test('a shell in a terminal has jobs', async () => {
  const process = await sandbox.startProcess('bash --norc --noediting -i', { tty })
  await process.write(`sh -c 'trap "echo job continues" CONT; echo job "runs"; while :; do :; done'\n`)
  await shows(process, /job runs\r\n/)
  await process.write('\x1a')
  await shows(process, /Stopped/)
  await process.write('fg\n')
  await shows(process, /\njob continues\r\n/)
  // Unread input is discarded with it.
  await process.write('\x03')
  await shows(process, /\^C[^]*\$ $/)
  await process.write('echo code $?; exit 4\n')
  assert.deepEqual(await process.waitForExit(), { exitCode: 4 })
  assert.match(process.getLogs().stdout, /code 130\r\n/)
})

test('a program in a terminal that is closed gets a signal', async () => {
  const process = await sandbox.startProcess('trap "echo hup > /tmp/hup" HUP; sh -c "kill -HUP $$"', { tty })
  await process.waitForExit()
  assert.equal((await sandbox.exec('cat /tmp/hup')).stdout, 'hup\n')
})

test('less shows a page, and the next, and ends', { skip: without('less') }, async () => {
  const process = await sandbox.startProcess('seq 1 100 | less', { tty: { columns: 40, rows: 10 } })
  await shows(process, /\b9\r\n/)
  await process.write(' ')
  await shows(process, /\b18\r\n/)
  await process.write('q')
  assert.deepEqual(await process.waitForExit(), { exitCode: 0 })
})

test('top shows the processes of the user space, and ends', { skip: without('top') }, async () => {
  const process = await sandbox.startProcess('top -d 1', { tty })
  await shows(process, /\btop\b[^]*load average[^]*\bguest\b/)
  await process.write('q')
  assert.deepEqual(await process.waitForExit(), { exitCode: 0 })
})

test('python3 -i is an interactive Python', { skip: without('python3') }, async () => {
  const process = await sandbox.startProcess('python3 -q -i', { tty })
  await shows(process, />>> $/)
  await process.write('x = 6 * 7\n')
  await process.write('print("is", x)\n')
  await shows(process, /\nis 42\r\n/)
  // It polls for the key, because a pause() that begins after the key has arrived never ends.
  await process.write(
    'import time; print("wai" + "ting"); all(time.sleep(0.01) is None for _ in iter(int, 1))\n',
  )
  await shows(process, /\nwaiting\r\n/)
  await process.write('\x03')
  await shows(process, /KeyboardInterrupt\r\n[^]*>>> $/)
  await process.write('exit(3)\n')
  assert.deepEqual(await process.waitForExit(), { exitCode: 3 })
})

test('a terminal has its own devices, and no other’s', async () => {
  const one = await sandbox.startProcess('tty; exec sleep 60', { tty })
  const { line } = await one.waitForLog(/pts/)
  const { stdout } = await sandbox.exec(`tty; ls /dev/pts | wc -l; test -w ${line.trim()} && echo mine`, {
    tty,
  })
  const [other] = stdout.split('\r\n')
  assert.notEqual(other, line.trim())
  await sandbox.killProcess(one.id)
})
