/** How a sandbox begins and ends, and that nothing of it remains. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'

import { createLazaret } from '../../support/create-lazaret.ts'
import type { Sandbox } from '../../../src/index.ts'
import { processesWith } from '../../support/guests/processes-with.ts'
import { useLazaret } from '../../support/use-lazaret.ts'

const { lazaret } = await useLazaret({ onEvent: () => undefined })
const gone = { code: 'SANDBOX_GONE' }

test('a sandbox ends at the end of its scope', async () => {
  let seen: Sandbox | undefined
  {
    await using sandbox = await lazaret.sandbox()
    seen = sandbox
    await sandbox.exec('sleep 68.5 &')
    assert.equal(sandbox.isAlive, true)
  }
  assert.equal(seen.isAlive, false)
  await assert.rejects(seen.exec('true'), gone)
})

test('destroying twice, also concurrently, is safe', async () => {
  const sandbox = await lazaret.sandbox()
  await Promise.all([sandbox.destroy(), sandbox.destroy(), sandbox[Symbol.asyncDispose]()])
  await sandbox.destroy()
})

test('calls that wait for their caller end with the sandbox', async () => {
  const sandbox = await lazaret.sandbox()
  const never = new Promise<never>(() => undefined)
  async function* silentAfter(...pieces: readonly Uint8Array[]) {
    yield* pieces
    await never
    yield new Uint8Array(0)
  }
  const taken = Promise.withResolvers<void>()
  const onOutput = () => {
    taken.resolve()
    return never
  }
  const calls = [
    sandbox.exec('echo 1', { onOutput }),
    sandbox.uploadTar(new ReadableStream()),
    sandbox.uploadTar(silentAfter(new Uint8Array(10))),
    sandbox.uploadTar(silentAfter(gzipSync(Buffer.alloc(1024)).subarray(0, 12))),
  ].map((call) => assert.rejects(call, gone))
  await taken.promise
  await sandbox.destroy()
  await Promise.all(calls)
})

test('waiting for a port of a process fails when the process ends with the sandbox', async () => {
  const sandbox = await lazaret.sandbox()
  const process = await sandbox.startProcess('sleep 60')
  const waiting = assert.rejects(process.waitForPort(80), { code: 'PROCESS_ENDED' })
  await sandbox.destroy()
  await waiting
})

test('every call after the end is SANDBOX_GONE', async () => {
  const sandbox = await lazaret.sandbox()
  const session = await sandbox.createSession()
  const process = await sandbox.startProcess('echo 1; exec sleep 60')
  await process.waitForLog('1')
  await sandbox.destroy()
  const calls: readonly (() => Promise<unknown>)[] = [
    () => sandbox.exec('true'),
    () => sandbox.exec('true', { env: { TOKEN: 't' } }),
    () => sandbox.exec('true', { tty: { columns: 80, rows: 24 } }),
    () => session.exec('true'),
    () => sandbox.createSession(),
    () => sandbox.setEnvVars({ A: '1' }),
    () => sandbox.startProcess('true'),
    () => sandbox.killProcess(process.id),
    () => sandbox.killAllProcesses(),
    () => sandbox.writeFile('/workspace/a', ''),
    () => sandbox.readFile('/workspace/a'),
  ]
  for (const call of calls) await assert.rejects(call(), gone, String(call))
  const events = []
  for await (const event of sandbox.execStream('true')) events.push(event)
  const last = events.at(-1)
  assert.ok(last?.type === 'error')
  assert.match(String(last.error), /The sandbox is gone/)
  // Results of processes are still available.
  assert.equal(process.status, 'killed')
  assert.equal(process.getLogs().stdout, '1\n')
  process.kill()
  process.kill('SIGKILL')
})

test('wrong calls are refused even after its end', async () => {
  const sandbox = await lazaret.sandbox()
  await sandbox.destroy()
  await assert.rejects(sandbox.exec(''), { code: 'INVALID_REQUEST' })
})

test('running and queued calls end with SANDBOX_GONE when it is destroyed', async () => {
  const sandbox = await lazaret.sandbox()
  const process = await sandbox.startProcess('exec sleep 60')
  const begun = Promise.withResolvers<void>()
  const running = [
    sandbox.exec('echo; sleep 60', { onOutput: () => begun.resolve() }),
    sandbox.exec('echo waits'),
    sandbox.exec('sleep 60', { tty: { columns: 80, rows: 24 } }),
    ...(sandboxKeepsSecrets ? [sandbox.exec('sleep 60', { env: { TOKEN: 't' } })] : []),
  ].map((run) => assert.rejects(run, gone))
  const streamed = (async () => {
    const types: string[] = []
    for await (const { type } of sandbox.execStream('echo; sleep 60')) types.push(type)
    return types
  })()
  await begun.promise
  await sandbox.destroy()
  await Promise.all(running)
  assert.equal((await streamed).at(-1), 'error')
  assert.deepEqual(await process.waitForExit(), { exitCode: 137 })
})

test('an idle sandbox ends after its time, but not while a call is pending', async () => {
  const sandbox = await lazaret.sandbox({ idleTimeoutMs: 150 })
  assert.equal((await sandbox.exec('sleep 0.3; echo still')).stdout, 'still\n')
  const process = await sandbox.startProcess('sleep 0.3; echo also; exec sleep 60')
  assert.equal((await process.waitForLog('also')).line, 'also')
  assert.equal(sandbox.isAlive, true)
  // Nothing waits any more, and its own process does not keep it alive.
  for await (const _ of process.streamLogs({ signal: AbortSignal.abort() }));
  const { promise, resolve } = Promise.withResolvers<void>()
  const look = () => (sandbox.isAlive ? void setTimeout(look, 10) : resolve())
  look()
  await promise
  await assert.rejects(sandbox.exec('true'), gone)
  await sandbox.destroy()
  assert.equal(process.status, 'killed')
})

test('sandboxes are listed while they live, oldest first, by the names they were given', async () => {
  assert.deepEqual(lazaret.listSandboxes(), [])
  await using one = await lazaret.sandbox({ id: 'one' })
  await using two = await lazaret.sandbox()
  assert.deepEqual(lazaret.listSandboxes(), [one, two])
  assert.equal(one.id, 'one')
  assert.match(two.id, /^[\w.-]+$/)
  await assert.rejects(lazaret.sandbox({ id: 'one' }), {
    code: 'INVALID_REQUEST',
    message: /id: a sandbox "one" already exists\./,
  })
  const ending = one.destroy()
  assert.deepEqual(lazaret.listSandboxes(), [two])
  await ending
  await using again = await lazaret.sandbox({ id: 'one' })
  assert.deepEqual(lazaret.listSandboxes(), [two, again])
})

test('two sandboxes of one name cannot be created at once', async () => {
  const made = await Promise.allSettled([lazaret.sandbox({ id: 'same' }), lazaret.sandbox({ id: 'same' })])
  const there = made.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  assert.equal(there.length, 1)
  await there[0]?.destroy()
})

test('nothing of one sandbox is in another', async () => {
  await using one = await lazaret.sandbox({ files: { 'given.txt': 'one' }, env: { A: '1' } })
  await using other = await lazaret.sandbox()
  await one.exec('echo mine > mine; echo tmp > /tmp/mine; sleep 69.5 &')
  assert.equal((await one.exec('cat given.txt; echo $A')).stdout, 'one1\n')
  const { stdout } = await other.exec(`ls; ls /tmp; echo "[$A]"; ${processesWith('69[.]5')}`)
  assert.equal(stdout, '[]\n')
})

test('the first command finds all given files completely, also in a secure space', async () => {
  const files = { big: 'x'.repeat(12_000_000), last: 'y' }
  for (const options of [{}, { env: { A: '1' } }]) {
    await using sandbox = await lazaret.sandbox({ files })
    const { stdout } = await sandbox.exec('ls; wc -c < big', options)
    assert.equal(stdout, 'big\nlast\n12000000\n')
  }
})

test('disposing a Lazaret ends its sandboxes, and those that are being created', async () => {
  const other = createLazaret({ onEvent: () => undefined })
  const sandbox = await other.sandbox()
  const begun = Promise.withResolvers<void>()
  const running = assert.rejects(sandbox.exec('echo; sleep 60', { onOutput: () => begun.resolve() }), gone)
  await begun.promise
  const late = other.sandbox().then(
    (made) =>
      made.exec('true').then(
        () => 'ran',
        () => 'gone',
      ),
    () => 'refused',
  )
  await other[Symbol.asyncDispose]()
  await running
  assert.notEqual(await late, 'ran')
  assert.equal(sandbox.isAlive, false)
  assert.deepEqual(other.listSandboxes(), [])
  await assert.rejects(other.sandbox(), { code: 'DISPOSED' })
})

const sandboxKeepsSecrets = await (async () => {
  await using sandbox = await lazaret.sandbox()
  return (await sandbox.exec(':')).isolation.level !== 'restricted'
})()
