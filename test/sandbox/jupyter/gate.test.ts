/** Access to the port of a sandbox's Jupyter server needs its token and its host name, and is refused to pages of other sites. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import { test } from 'node:test'

import WebSocket from 'ws'
import type { JupyterServer } from '../../../src/index.ts'
import { runCell, startKernel, useJupyter, visit } from './use-jupyter.ts'

const { skip, withJupyter } = await useJupyter()

/** Sends a chosen Host header. */
async function get(url: string, headers: OutgoingHttpHeaders): Promise<IncomingMessage> {
  const asked = request(url, { headers, agent: false }).end()
  const [answer] = (await once(asked, 'response')) as [IncomingMessage]
  answer.resume()
  return answer
}

function open(jupyter: JupyterServer, path: string, headers: Record<string, string> = {}): Promise<number> {
  const socket = new WebSocket(`${jupyter.url.replace('http', 'ws')}${path}`, { headers })
  const { promise, resolve } = Promise.withResolvers<number>()
  socket.on('open', () => resolve(101))
  socket.on('unexpected-response', (_request, answer) => resolve(answer.statusCode ?? 0))
  socket.on('error', () => resolve(0))
  return promise.finally(() => socket.terminate())
}

test('requests without the token, for another host or of another origin are refused', { skip }, async () => {
  await withJupyter(async ({ jupyter }) => {
    const status = `${jupyter.url}api/status`
    const { port } = new URL(jupyter.url)
    const right = { authorization: `token ${jupyter.token}` }
    assert.equal((await get(status, right)).statusCode, 200)
    assert.equal((await get(status, { ...right, host: `localhost:${port}` })).statusCode, 200)
    assert.equal((await get(status, { authorization: `Bearer ${jupyter.token}` })).statusCode, 200)
    const own = { ...right, origin: `http://127.0.0.1:${port}` }
    assert.equal((await get(status, own)).statusCode, 200)
    const wrong: OutgoingHttpHeaders[] = [
      {},
      { authorization: 'token ' },
      { authorization: `token ${jupyter.token}x` },
      { cookie: 'username-127-0-0-1=1' },
      { ...right, host: 'evil.example' },
      { ...right, host: `evil.example:${port}` },
      { ...right, host: '127.0.0.1' },
      { ...right, origin: 'http://evil.example' },
      { ...right, origin: 'null' },
      { ...right, origin: 'http://127.0.0.1:1' },
    ]
    for (const headers of wrong)
      assert.equal((await get(status, headers)).statusCode, 403, JSON.stringify(headers))
  })
})

test('the token in a link becomes a cookie of that port, which pages then use', { skip }, async () => {
  await withJupyter(async ({ jupyter }) => {
    const first = await visit(`${jupyter.url}api/status?token=${jupyter.token}`)
    const cookies = first.headers.getSetCookie()
    assert.equal(cookies.length, 1)
    assert.match(cookies[0] ?? '', /HttpOnly; SameSite=Strict/)
    const cookie = (cookies[0] ?? '').split(';')[0] ?? ''
    const later = await visit(`${jupyter.url}api/status`, { cookie: `other=1; ${cookie}` })
    assert.equal(later.status, 200)
    // Browsers would send the server's own cookies to every port of this machine.
    const page = await visit(`${jupyter.url}login`, { cookie })
    assert.deepEqual(page.headers.getSetCookie(), [])
  })
})

test('WebSockets have the same checks', { skip }, async () => {
  await withJupyter(async ({ jupyter }) => {
    await using one = await startKernel(jupyter)
    const path = `api/kernels/${one.kernel.id}/channels`
    assert.equal(await open(jupyter, `${path}?token=${jupyter.token}`), 101)
    assert.equal(await open(jupyter, path), 403)
    assert.equal(
      await open(jupyter, `${path}?token=${jupyter.token}`, { origin: 'http://evil.example' }),
      403,
    )
    assert.equal(await open(jupyter, `${path}?token=${jupyter.token}`, { host: 'evil.example' }), 403)
    assert.equal(await open(jupyter, `api/nothing?token=${jupyter.token}`), 502)
  })
})

test('code inside finds neither the token of the port nor cookies of the browser', { skip }, async () => {
  await withJupyter(async ({ jupyter }) => {
    await using one = await startKernel(jupyter)
    const look = `import glob, re
found = set()
for name in glob.glob("/proc/[0-9]*/environ") + glob.glob("/proc/[0-9]*/cmdline"):
    try: found.update(re.findall(r"[0-9a-f]{64}", open(name).read()))
    except OSError: pass
print(len(glob.glob("/proc/[0-9]*")) > 2, sorted(found))`
    assert.equal((await runCell(one.kernel, look)).stdout, 'True []\n')
  })
})
