import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { open } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { spawnCli } from './spawn-cli.ts'
import { createTemporaryFolder } from './temporary-folder.ts'

const endless = ['exec', '--timeout', '60s', '--', 'echo ready; while :; do :; done']

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  test(`${signal} ends the run and says so, and its output came before`, async () => {
    const child = spawnCli(endless)
    const stderr = text(child.stderr)
    const [first] = (await once(child.stdout, 'data')) as [Buffer]
    assert.equal(first.toString(), 'ready\n')
    child.kill(signal)
    assert.deepEqual(await once(child, 'close'), [130, null])
    assert.equal(await stderr, 'lazaret: cancelled\n')
  })
}

test('with --json a cancelled run is still one document', async () => {
  // With --json nothing is printed before the end, so the program knocks at a door of ours when it runs.
  const door = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1')
  await once(door, 'listening')
  const { port } = door.address() as AddressInfo
  const code = `: < /dev/tcp/127.0.0.1/${port}; while :; do :; done`
  const child = spawnCli(['exec', '--json', '--network', 'host', '--timeout', '60s', '--', code])
  const [stdout, stderr] = [text(child.stdout), text(child.stderr)]
  const closed = once(child, 'close')
  await Promise.race([once(door, 'connection'), closed])
  child.kill('SIGINT')
  assert.deepEqual(await closed, [130, null])
  assert.equal(JSON.parse(await stdout).outcome.kind, 'cancelled')
  assert.equal(await stderr, 'lazaret: cancelled\n')
  door.close()
  await once(door, 'close')
})

test('a command that waits for its program on standard input can be interrupted', async () => {
  const child = spawnCli(['run', '-l', 'shell', '-'])
  const stderr = text(child.stderr)
  const closed = once(child, 'close')
  child.stdin.on('error', () => undefined)
  // More than the pipe holds: once it is written, the command is known to be reading.
  await new Promise((resolve) => child.stdin.write('#'.repeat(900_000), resolve))
  child.kill('SIGINT')
  assert.deepEqual(await closed, [null, 'SIGINT'])
  assert.equal(await stderr, 'lazaret: cancelled\n')
})

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  test(`${signal} ends a command at once that waits for something else than its run`, async () => {
    await using folder = await createTemporaryFolder()
    const pipe = join(folder.path, 'pipe')
    execFileSync('mkfifo', [pipe])
    // A read that nothing interrupts: the pipe has a writer, who never writes.
    const child = spawnCli(['exec', '--stdin', pipe, '--', 'cat'])
    const stderr = text(child.stderr)
    const closed = once(child, 'close')
    const writer = await open(pipe, 'w')
    child.kill(signal)
    assert.deepEqual(await closed, [null, signal])
    assert.equal(await stderr, 'lazaret: cancelled\n')
    await writer.close()
  })
}

test('a reader that goes away ends the run quietly', async () => {
  const child = spawnCli(['exec', '--timeout', '60s', '--', 'while echo line; do sleep 0.01; done'])
  const stderr = text(child.stderr)
  await once(child.stdout, 'data')
  child.stdout.destroy()
  assert.deepEqual(await once(child, 'close'), [141, null])
  assert.equal(await stderr, '')
})
