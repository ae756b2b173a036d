/** `lazaret mcp` as a process: what it prints, what it survives and how it ends. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { eventually } from '../../support/eventually.ts'
import { listDescendants } from '../../support/machine/processes.ts'
import { runCli, spawnCli } from '../cli/spawn-cli.ts'
import { createTemporaryFolder } from '../cli/temporary-folder.ts'
import { connect } from './connect.ts'
import { startEndless } from './find-guest.ts'

const initialize = {
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 't', version: '1' } },
}

function callOf(id: number, args: object): object {
  return { jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'execute_code', arguments: args } }
}

test('standard output has only the protocol, whatever the input and whatever guests print', async () => {
  const child = spawnCli(['mcp'])
  const printed = text(child.stderr)
  const messages: {
    id?: number | null
    result?: { isError?: boolean; structuredContent?: object }
    error?: object
  }[] = []
  const answered = Promise.withResolvers<void>()
  createInterface(child.stdout).on('line', (line) => {
    messages.push(JSON.parse(line))
    if (messages.length === 5) answered.resolve()
  })
  const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`
  const lines = [
    'garbage',
    '',
    '\x00\xff\x1b[2J',
    '[]',
    '{"jsonrpc":"2.0"}',
    '{"neither":"this"}',
    JSON.stringify(initialize),
    'more garbage',
    JSON.stringify(
      callOf(1, { language: 'shell', code: `echo '{"jsonrpc":"2.0","id":2,"result":{}}'; echo e >&2` }),
    ),
    JSON.stringify(callOf(2, { language: 'shell', code: ':', input: 0 })).replace(
      '"input":0',
      `"input":${deep}`,
    ),
    JSON.stringify({ jsonrpc: '2.0', id: 3, method: 'no/such' }),
  ]
  child.stdin.write(`${lines.join('\n')}\n`)
  await answered.promise
  child.stdin.end()
  assert.deepEqual(await once(child, 'close'), [0, null])
  assert.equal(messages.length, 5)
  const byId = new Map(messages.map((message) => [message.id, message]))
  assert.ok(byId.get(0)?.result)
  assert.deepEqual(byId.get(1)?.result?.isError, undefined)
  assert.ok(byId.get(2)?.error)
  assert.ok(byId.get(3)?.error)
  // A batch.
  assert.ok(byId.get(null)?.error)
  assert.match(await printed, /^(lazaret: the client sent an invalid message: .*\n)+$/)
})

test('an endless message closes the connection', async () => {
  const child = spawnCli(['mcp'])
  const printed = text(child.stderr)
  child.stdin.on('error', () => undefined)
  child.stdin.write(Buffer.alloc(21 * 1024 * 1024, 'x'))
  assert.deepEqual(await once(child, 'close'), [0, null])
  assert.match(await printed, /a message of more than 20971520 bytes; the connection is closed/)
})

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  test(`${signal} ends the server and its runs, and leaves nothing`, async () => {
    await using connection = await connect('v1')
    await startEndless(connection, signal === 'SIGINT' ? 64_000 : 64_001)
    const pid = connection.pid()
    assert.ok(pid !== null)
    const left = listDescendants(pid)
    assert.ok(left.length > 1)
    process.kill(pid, signal)
    const isThere = ({ pid: one }: { pid: number }) =>
      listDescendants(process.pid).some((now) => now.pid === one)
    await eventually(() => (left.some(isThere) ? 'something is left' : undefined), 10_000)
  })

test('a client has thirty executions a minute, unless the configuration says otherwise', async () => {
  await using connection = await connect('modern')
  const call = () => connection.execute({ language: 'shell', code: ':' })
  const results = await Promise.all(Array.from({ length: 31 }, call))
  const refused = results.filter(({ isError }) => isError === true)
  assert.equal(refused.length, 1)
  assert.match(
    refused[0]?.content[0]?.text ?? '',
    /^refused: RATE_LIMITED: Rate limit exceeded\. Maximum 30 executions per minute\. Try again in \d+ s\.\n/,
  )
})

test('tokens must be long, in a file that only its owner can read, and are only for HTTP', async () => {
  await using folder = await createTemporaryFolder()
  const file = join(folder.path, 'tokens')
  writeFileSync(file, 'ada:0123456789abcdef\n')
  chmodSync(file, 0o644)
  const refused = async (args: string[], env: Record<string, string> = {}): Promise<string> => {
    const { exitCode, stdout, stderr } = await runCli(['mcp', ...args], { env })
    assert.deepEqual([exitCode, stdout], [64, ''])
    return stderr
  }
  assert.match(await refused(['--http', '0', '--tokens', file]), /chmod 600/)
  chmodSync(file, 0o600)
  assert.match(await refused(['--tokens', file]), /Add --http/)
  assert.match(await refused(['--http', '0'], { LAZARET_TOKEN: '' }), /LAZARET_TOKEN has fewer than 16/)
  assert.match(await refused(['--http', '70000']), /port from 0 to 65535/)
})

test('over HTTP it prints its URL, and accepts the token of the environment', async () => {
  const child = spawnCli(['mcp', '--http', '0'], { env: { LAZARET_TOKEN: '0123456789abcdef' } })
  const [line] = (await once(createInterface(child.stderr), 'line')) as [string]
  const url = /^lazaret: serving (http:\/\/127\.0\.0\.1:\d+\/mcp)$/.exec(line)?.[1]
  assert.ok(url !== undefined, line)
  await assert.rejects(connect('modern', { url }))
  await using connection = await connect('modern', { url, token: '0123456789abcdef' })
  assert.equal((await connection.listTools()).tools.length, 2)
  const stdout = text(child.stdout)
  child.kill('SIGTERM')
  assert.deepEqual(await once(child, 'close'), [0, null])
  assert.equal(await stdout, '')
})

test('without tokens it says who may connect, and nothing sticks to its URL', async () => {
  const child = spawnCli(['mcp', '--http', '0'])
  const [line] = (await once(createInterface(child.stderr), 'line')) as [string]
  child.kill('SIGTERM')
  await once(child, 'close')
  assert.match(line, /^lazaret: serving http:\/\/127\.0\.0\.1:\d+\/mcp for everybody on this machine$/)
})
