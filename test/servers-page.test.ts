/**
 * The server of docs/operate/servers.md, which operators copy, with clients that disconnect, send too much, or never
 * finish.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, test } from 'node:test'
import { checkoutRoot, readText } from './support/sources/checkout.ts'
import { findBlocks } from './support/pages/page-programs.ts'

const folder = mkdtempSync(join(tmpdir(), 'lazaret-servers-'))
const server = startServer()
const lines = createInterface({ input: server.stdout as NonNullable<ChildProcess['stdout']> })
const [port] = (await once(lines, 'line')) as [string]
after(async () => {
  if (server.exitCode === null) {
    server.kill('SIGKILL')
    await once(server, 'close')
  }
  rmSync(folder, { recursive: true })
})

test('a client that disconnects while it sends its body leaves the server running', async () => {
  const socket = connect(Number(port), '127.0.0.1')
  await once(socket, 'connect')
  await new Promise((sent) =>
    socket.write('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n1 +', sent),
  )
  socket.destroy()
  assert.deepEqual(await post('6 * 7'), { status: 200, value: 42 })
})

test('a body that is too long, or of unknown length, is not read', async () => {
  assert.equal((await post('#'.repeat(2 * 1024 * 1024))).status, 413)
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode('1'))
      controller.close()
    },
  })
  const chunked = { method: 'POST', body, duplex: 'half' } as RequestInit
  assert.equal((await fetch(`http://127.0.0.1:${port}`, chunked)).status, 413)
})

test('a refusal is a reply with its status', async () => {
  assert.equal((await post('a\0b')).status, 400)
})

test('a client that disconnects ends its program, and the server ends on SIGTERM', async () => {
  const controller = new AbortController()
  const started = waitFor('work-started')
  const pending = fetch(`http://127.0.0.1:${port}`, {
    method: 'POST',
    body: 'import time; time.sleep(60)',
    signal: controller.signal,
  })
  const given = assert.rejects(pending, { name: 'AbortError' })
  await started
  const ended = waitFor('work-ended cancelled')
  controller.abort()
  await Promise.all([given, ended])
  server.kill('SIGTERM')
  assert.deepEqual(await once(server, 'close'), [0, null])
})

async function post(body: string): Promise<{ status: number; value?: unknown }> {
  const reply = await fetch(`http://127.0.0.1:${port}`, { method: 'POST', body })
  const { value } = (await reply.json()) as { value?: unknown }
  return { status: reply.status, ...(value === undefined ? {} : { value }) }
}

function waitFor(event: string): Promise<void> {
  return new Promise((resolve) => lines.on('line', (line) => line === event && resolve()))
}

/** The page's program without its final demonstration. It prints a line for each event of work. */
function startServer(): ChildProcess {
  const [block] = findBlocks('docs/operate/servers.md', readText('docs/operate/servers.md'))
  const [program = ''] = (block?.code ?? '').split('\nconst { port } = ')
  const onEvent = `onEvent: ({ type, outcome = '' }) => type.startsWith('work-') && console.log(\`\${type} \${outcome}\`.trim())`
  const source = program
    .replace("'lazaret'", JSON.stringify(join(checkoutRoot, 'src/index.ts')))
    .replace('createLazaret({', `createLazaret({ ${onEvent},`)
  const file = join(folder, 'server.mts')
  writeFileSync(file, `${source}\nconsole.log(server.address().port)\n`)
  return spawn(process.execPath, [file], { stdio: ['ignore', 'pipe', 'inherit'] })
}
