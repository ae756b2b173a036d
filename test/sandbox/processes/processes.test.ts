/** Background processes: their logs, the events to wait for, and their ends. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { listCells } from '../../support/machine/processes.ts'
import { untilShown } from '../../support/patient-run.ts'
import { processesWith } from '../../support/guests/processes-with.ts'
import { useSandbox } from '../use-sandbox.ts'

const MiB = 1024 * 1024
const { lazaret, leaks, sandbox } = await useSandbox()

test('a process runs concurrently with commands, and reports how it ended', async () => {
  const process = await sandbox.startProcess(
    'echo out; echo err >&2; until [ -e /tmp/go ]; do sleep 0.01; done; exit 3',
  )
  assert.equal(process.status, 'running')
  assert.equal(process.exitCode, undefined)
  assert.equal((await sandbox.exec(`kill -0 ${process.pid}; touch /tmp/go`)).exitCode, 0)
  assert.deepEqual(await process.waitForExit(), { exitCode: 3 })
  assert.equal(process.status, 'failed')
  assert.equal(process.exitCode, 3)
  assert.deepEqual(process.getLogs(), { stdout: 'out\n', stderr: 'err\n' })
})

test('a process has its session’s state, and does not change it', async () => {
  const session = await sandbox.createSession({ env: { A: '1' } })
  await session.exec('cd /tmp; f() { echo f; }')
  const process = await sandbox.startProcess('pwd; f; echo $A; cd /; export A=2', { sessionId: session.id })
  await process.waitForExit()
  assert.equal(process.status, 'completed')
  assert.equal(process.getLogs().stdout, '/tmp\nf\n1\n')
  assert.equal((await session.exec('pwd; echo $A')).stdout, '/tmp\n1\n')
})

test('a process takes the options of a command', async () => {
  const attempt = async (timeout: number) => {
    const pieces: string[] = []
    const process = await sandbox.startProcess('pwd; cat; sleep 60', {
      cwd: '/usr',
      stdin: 'given\n',
      timeout,
      onOutput: ({ text }) => void pieces.push(text),
    })
    assert.deepEqual(await process.waitForExit(), { exitCode: 124 })
    assert.equal(process.status, 'killed')
    return pieces.join('')
  }
  const expected = '/usr\ngiven\n'
  assert.equal((await untilShown(attempt, ({ seen }) => seen === expected)).seen, expected)
})

test('a given stdin is complete: nothing can be written after it', async () => {
  const process = await sandbox.startProcess('cat', { stdin: 'all' })
  await assert.rejects(process.write('more'), { code: 'INVALID_REQUEST' })
  await process.waitForExit()
  assert.equal(process.getLogs().stdout, 'all')
})

test('a process reads what is written to it', async () => {
  const process = await sandbox.startProcess('while read -r line; do echo "got $line"; done')
  await process.write('one\ntwo')
  await process.waitForLog('got one')
  await process.write(Buffer.from(' parts\n'))
  await process.waitForLog('got two parts')
  await sandbox.killProcess(process.id)
})

test('a process that reads to the end gets it: what was written before is complete', async () => {
  const sorted = await sandbox.startProcess('sort; echo sorted')
  await sorted.write('b\n'.repeat(50_000))
  await sorted.write('a\n')
  await sorted.closeStdin()
  await sorted.closeStdin()
  await assert.rejects(sorted.write('late'), { code: 'INVALID_REQUEST' })
  assert.deepEqual(await sorted.waitForExit(), { exitCode: 0 })
  const { stdout } = sorted.getLogs()
  assert.ok(stdout.startsWith('a\nb\n') && stdout.endsWith('b\nsorted\n'))
  assert.equal(stdout.length, 2 * 50_001 + 'sorted\n'.length)
  await sorted.closeStdin()
})

test('in a terminal, closing the input is Ctrl-D', async () => {
  const cat = await sandbox.startProcess('cat; echo over', { tty: { columns: 80, rows: 24 } })
  await cat.write('typed\n')
  await cat.waitForLog(/^typed\s*$/)
  await cat.closeStdin()
  assert.deepEqual(await cat.waitForExit(), { exitCode: 0 })
  assert.match(cat.getLogs().stdout, /over/)
})

test('credentials are for commands, not for background processes', async () => {
  await assert.rejects(sandbox.startProcess('true', { env: { TOKEN: 't' } }), {
    code: 'INVALID_REQUEST',
    message: /credentials/,
  })
})

test('a process that cannot be found is 127 like a command', async () => {
  const process = await sandbox.startProcess('no-such-program')
  assert.deepEqual(await process.waitForExit(), { exitCode: 127 })
})

test('only the end of its logs is kept', async () => {
  const process = await sandbox.startProcess(
    `echo first; echo once >&2; head -c ${20 * MiB} /dev/zero | tr '\\0' x; echo last`,
  )
  await process.waitForExit()
  const { stdout, stderr } = process.getLogs()
  assert.ok(stdout.length <= MiB && stdout.length > MiB / 2)
  assert.match(stdout, /^x+last\n$/)
  assert.equal(stderr, 'once\n')
})

test('several readers can stream the kept logs and later output until the end', async () => {
  const process = await sandbox.startProcess('echo 1; read; echo 2; echo 3 >&2')
  await process.waitForLog('1')
  const follow = async () => {
    const texts: string[] = []
    for await (const { stream, text } of process.streamLogs()) texts.push(`${stream} ${text}`)
    return texts
  }
  const followers = [follow(), follow()]
  await process.write('\n')
  for (const texts of await Promise.all([...followers, follow()])) {
    assert.equal(texts[0], 'stdout 1\n')
    assert.deepEqual(texts.slice(1).toSorted(), ['stderr 3\n', 'stdout 2\n'])
  }
})

test('a reader that stops or aborts streaming leaves the process running', async () => {
  const process = await sandbox.startProcess('echo 1; exec sleep 60')
  for await (const { text } of process.streamLogs()) {
    assert.equal(text, '1\n')
    break
  }
  const abort = new AbortController()
  for await (const _ of process.streamLogs({ signal: abort.signal })) abort.abort()
  assert.equal(process.status, 'running')
  await sandbox.killProcess(process.id)
})

test('waiting for a line works for earlier and later output of both streams, and without a line end', async () => {
  const process = await sandbox.startProcess(
    'echo ready on 80; echo warn >&2; read; printf "name: "; exec sleep 60',
  )
  assert.deepEqual(await process.waitForLog('ready'), { line: 'ready on 80' })
  assert.deepEqual(await process.waitForLog(/^w.rn$/), { line: 'warn' })
  const every = /ready/g
  for (let round = 0; round < 3; round++) assert.equal((await process.waitForLog(every)).line, 'ready on 80')
  const prompt = process.waitForLog(/name: $/)
  await process.write('\n')
  assert.deepEqual(await prompt, { line: 'name: ' })
  await sandbox.killProcess(process.id)
})

test('waiting ends at its timeout, and leaves the process running', async () => {
  const process = await sandbox.startProcess('exec sleep 60')
  const timeout = 50
  await assert.rejects(process.waitForExit({ timeout }), { code: 'WAIT_TIMED_OUT' })
  await assert.rejects(process.waitForLog('never', { timeout }), { code: 'WAIT_TIMED_OUT' })
  await assert.rejects(process.waitForPort(4000, { timeout }), { code: 'WAIT_TIMED_OUT' })
  assert.equal(process.status, 'running')
  await sandbox.killProcess(process.id)
})

test('waiting for something that a process never does ends with the process', async () => {
  const process = await sandbox.startProcess('read; exit 3')
  const waits = [process.waitForLog('never'), process.waitForPort(4000)]
  const rejections = waits.map((wait) =>
    assert.rejects(wait, { code: 'PROCESS_ENDED', message: /exit code 3/ }),
  )
  await process.write('\n')
  await Promise.all(rejections)
  await assert.rejects(process.waitForLog('never'), { code: 'PROCESS_ENDED' })
})

test('a port is waited for, on IPv4 and on IPv6', async () => {
  const servers = [
    { host: '0.0.0.0', port: 4001 },
    { host: '::1', port: 4002 },
  ]
  for (const { host, port } of servers) {
    const process = await sandbox.startProcess(
      `node -e 'setTimeout(() => require("net").createServer().listen(${port}, "${host}"), 50)'`,
    )
    await process.waitForPort(port)
    await process.waitForPort(port)
    await sandbox.killProcess(process.id)
  }
})

test('a process can be sent signals', async () => {
  const process = await sandbox.startProcess(
    'trap "echo usr1" USR1; trap "echo term; exit 5" TERM; echo ready; while :; do sleep 0.01; done',
  )
  await process.waitForLog('ready')
  process.kill('SIGUSR1')
  await process.waitForLog('usr1')
  process.kill()
  assert.deepEqual(await process.waitForExit(), { exitCode: 5 })
  assert.equal(process.getLogs().stdout, 'ready\nusr1\nterm\n')
  process.kill()
  process.kill('SIGKILL')
})

test('SIGKILL ends a process with all that it has started; an invalid signal ends nothing', async () => {
  const process = await sandbox.startProcess('setsid sleep 63.5 & echo ready; sleep 63.5')
  await process.waitForLog('ready')
  assert.throws(() => process.kill('SIGNOTHING' as NodeJS.Signals), { code: 'INVALID_REQUEST' })
  assert.equal(process.status, 'running')
  assert.equal(await sandbox.killProcess(process.id), true)
  assert.equal(await sandbox.killProcess(process.id), false)
  assert.equal(process.status, 'killed')
  assert.equal(process.exitCode, 137)
  assert.equal((await sandbox.exec(processesWith('63[.]5'))).stdout, '')
})

test('processes are listed and found by their names, also when they have ended', async () => {
  await sandbox.killAllProcesses()
  const one = await sandbox.startProcess('exec sleep 60', { id: 'one' })
  const two = await sandbox.startProcess('true')
  await two.waitForExit()
  assert.equal(sandbox.getProcess('one'), one)
  assert.equal(sandbox.getProcess(two.id)?.status, 'completed')
  assert.equal(sandbox.getProcess('nobody'), undefined)
  assert.ok(sandbox.listProcesses().includes(one) && sandbox.listProcesses().includes(two))
  await assert.rejects(sandbox.startProcess('true', { id: 'one' }), { code: 'INVALID_REQUEST' })
  await sandbox.startProcess('exec sleep 60')
  assert.equal(await sandbox.killAllProcesses(), 2)
  assert.equal(await sandbox.killAllProcesses(), 0)
  assert.equal(await sandbox.killProcess('nobody'), false)
  const again = await sandbox.startProcess('true', { id: 'one' })
  assert.equal(sandbox.getProcess('one'), again)
  await again.waitForExit()
})

test('a sandbox runs 48 processes at most', async () => {
  const start = () => sandbox.startProcess('exec sleep 60')
  await Promise.all(Array.from({ length: 48 }, start))
  await assert.rejects(start(), { code: 'QUEUE_FULL' })
  assert.equal(await sandbox.killAllProcesses(), 48)
})

test('processes die with their sandbox', async () => {
  const other = await lazaret.sandbox()
  const process = await other.startProcess('trap "" TERM; setsid sleep 64.5 & sleep 64.5')
  await other.exec('setsid sleep 64.5 & disown')
  leaks.noteProcesses(listCells().flatMap(({ guests }) => guests.filter(({ name }) => name === 'sleep')))
  const waits = [
    process.waitForExit(),
    assert.rejects(process.waitForLog('never'), { code: 'PROCESS_ENDED' }),
  ]
  await other.destroy()
  await Promise.all(waits)
  assert.equal(process.status, 'killed')
})

test('a signal reaches the children of a process, and not only its shell', async () => {
  const process = await sandbox.startProcess('sleep 64.5 & echo ready; sleep 64.5; echo never')
  // A fork of the shell that has not executed `sleep` yet may lose the signal to the shell's own handler.
  const bothSleep = `until [ $(${processesWith('64[.]5')} | wc -l) = 2 ]; do sleep 0.02; done`
  assert.equal((await sandbox.exec(bothSleep, { timeout: 10_000 })).exitCode, 0)
  process.kill()
  assert.deepEqual(await process.waitForExit(), { exitCode: 143 })
  assert.equal((await sandbox.exec(processesWith('64[.]5'))).stdout, '')
})

test('a write to a process that no longer reads does not wait', async () => {
  const process = await sandbox.startProcess('exec <&-; echo closed; exec sleep 60')
  await process.waitForLog('closed')
  for (let pieces = 0; pieces < 4; pieces++) await process.write(Buffer.alloc(100_000))
  assert.equal(process.status, 'running')
  await sandbox.killProcess(process.id)
})

test('background processes of a command may print after it, even for ever', async () => {
  await sandbox.exec('yes & (sleep 0.1; echo late; echo late >&2; echo lived > /tmp/lived) &')
  const both = `until [ -e /tmp/lived ]; do sleep 0.02; done; sleep 0.2; [ "$(${processesWith('ye[s]')})" ] && cat /tmp/lived`
  assert.equal((await sandbox.exec(both, { timeout: 10_000 })).stdout, 'lived\n')
  await sandbox.exec(`kill $(${processesWith('ye[s]')} | cut -d/ -f3)`)
})

test('a process is printed with its properties', async () => {
  const process = await sandbox.startProcess('exec sleep 60', { id: 'shown' })
  const { pid } = process
  assert.deepEqual(JSON.parse(JSON.stringify(process)), {
    id: 'shown',
    pid,
    command: 'exec sleep 60',
    status: 'running',
  })
  await sandbox.killProcess('shown')
})
