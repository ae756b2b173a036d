import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { open } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { whyNoSandboxes } from '../../../support/sandboxes-here.ts'
import { spawnCli } from '../spawn-cli.ts'
import { createTemporaryFolder } from '../temporary-folder.ts'

const noSandboxes = await whyNoSandboxes()
const loop = 'echo ready; while :; do :; done'
const endless = {
  'the command': ['exec', '--timeout', '60s', '--', loop],
  'the command with credentials': ['exec', '--timeout', '60s', '--env', 'A=b', '--', loop],
  'the run': ['run', '--timeout', '60s', '-l', 'shell', '-e', loop],
}
const ends = Object.entries(endless).flatMap(([what, args]) =>
  (['SIGINT', 'SIGTERM', 'SIGHUP'] as const).map((signal) => ({ what, args, signal })),
)

for (const { what, args, signal } of ends) {
  const skip = what.endsWith('credentials') && noSandboxes
  test(`${signal} ends ${what}, after its output so far, with a message`, { skip }, async () => {
    const child = spawnCli(args)
    const stderr = text(child.stderr)
    const [first] = (await once(child.stdout, 'data')) as [Buffer]
    assert.equal(first.toString(), 'ready\n')
    child.kill(signal)
    assert.deepEqual(await once(child, 'close'), [130, null])
    assert.equal(await stderr, 'lazaret: cancelled\n')
  })
}

for (const [command = '', ...before] of [
  ['exec', '--'],
  ['run', '-l', 'shell', '-e'],
])
  test(`with --json a cancelled ${command} is still one document`, async () => {
    // With --json nothing is printed before the end, so the program connects to this server once it runs.
    const server = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const code = `: < /dev/tcp/127.0.0.1/${port}; while :; do :; done`
    const child = spawnCli([command, '--json', '--network', 'host', '--timeout', '60s', ...before, code])
    const [stdout, stderr] = [text(child.stdout), text(child.stderr)]
    const closed = once(child, 'close')
    await Promise.race([once(server, 'connection'), closed])
    child.kill('SIGINT')
    assert.deepEqual(await closed, [130, null])
    assert.equal(JSON.parse(await stdout).outcome.kind, 'cancelled')
    assert.equal(await stderr, 'lazaret: cancelled\n')
    server.close()
    await once(server, 'close')
  })

test('a command that waits for its program on standard input can be interrupted', async () => {
  const child = spawnCli(['run', '-l', 'shell', '-'])
  const stderr = text(child.stderr)
  const closed = once(child, 'close')
  child.stdin.on('error', () => undefined)
  // More than the pipe holds: once it has been written, the command must be reading.
  await new Promise((resolve) => child.stdin.write('#'.repeat(900_000), resolve))
  child.kill('SIGINT')
  assert.deepEqual(await closed, [null, 'SIGINT'])
  assert.equal(await stderr, 'lazaret: cancelled\n')
})

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  test(`${signal} immediately ends a command that is not waiting for its run`, async () => {
    await using folder = await createTemporaryFolder()
    const pipe = join(folder.path, 'pipe')
    execFileSync('mkfifo', [pipe])
    // A read that never ends: the pipe has a writer that writes nothing.
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

test('a closed output pipe ends the run without a message', async () => {
  const child = spawnCli(['exec', '--timeout', '60s', '--', 'while echo line; do sleep 0.01; done'])
  const stderr = text(child.stderr)
  await once(child.stdout, 'data')
  child.stdout.destroy()
  assert.deepEqual(await once(child, 'close'), [141, null])
  assert.equal(await stderr, '')
})
