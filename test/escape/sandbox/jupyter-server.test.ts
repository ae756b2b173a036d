/**
 * Answering in place of a sandbox's Jupyter server, as its kernels can: to take the token of the port and the browser's
 * cookies, to set cookies, to fill the host's memory, or to confuse the host with invalid answers.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { test } from 'node:test'

import WebSocket from 'ws'
import type { JupyterServer } from '../../../src/index.ts'
import { untilPythonBlocks } from '../../support/machine/blocked-guests.ts'
import { keepHeldFlat } from '../../support/machine/held-memory.ts'
import { runCell, startKernel, useJupyter, visit } from '../../sandbox/jupyter/use-jupyter.ts'

const { skip, withJupyter } = await useJupyter()

/** Takes over the socket, and answers according to the requested path. */
const impostor = `
import os, socket, threading
path = "/tmp/jupyter/server.sock"
os.rename(path, path + ".real")
server = socket.socket(socket.AF_UNIX)
server.bind(path)
server.listen(64)
head = b"HTTP/1.1 200 OK\\r\\nConnection: close\\r\\n"
def answer(client):
    asked = client.recv(65536)
    name = asked.split(b" ")[1].split(b"?")[0]
    if name == b"/echo": client.sendall(head + b"\\r\\n" + asked)
    elif name == b"/cookies": client.sendall(head + b"Set-Cookie: a=b; Path=/\\r\\nClear-Site-Data: \\"*\\"\\r\\n\\r\\n")
    elif name == b"/garbage": client.sendall(b"\\0\\xff no answer\\r\\n\\r\\n" * 100)
    elif name == b"/status": client.sendall(b"HTTP/1.1 099 Odd\\r\\nContent-Length: 0\\r\\n\\r\\n")
    elif name == b"/odd": client.sendall(b"HTTP/1.1 999 Odd\\r\\nContent-Length: 5\\r\\nX-\\xe9: a\\r\\n\\r\\nabc")
    elif name == b"/texts": client.sendall(head + b"X-Own: \\x80\\xff\\r\\nTrailer: a\\r\\nContent-Length: 1\\r\\n\\r\\na")
    elif name == b"/header": client.sendall(b"HTTP/1.1 200 OK\\r\\nX: " + b"x" * 1_000_000)
    elif name == b"/switch": client.sendall(b"HTTP/1.1 101 Switching Protocols\\r\\nUpgrade: websocket\\r\\nConnection: Upgrade\\r\\nSec-WebSocket-Accept: wrong\\r\\nX-Own: 1\\r\\n\\r\\n")
    elif name == b"/long":
        client.sendall(head + b"\\r\\n")
        for _ in range(2000): client.sendall(b"x" * 65536)
    elif name == b"/silent": threading.Event().wait()
    client.close()
def accept():
    while True: threading.Thread(target=answer, args=(server.accept()[0],), daemon=True).start()
threading.Thread(target=accept, daemon=True).start()
print("taken")`

/** Ends the relays that lead to the real server. */
const cut = `
import glob, signal
def cut():
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            if b"server.connect" in open(path, "rb").read(): os.kill(int(path.split("/")[2]), signal.SIGKILL)
        except OSError: pass
threading.Timer(0.1, cut).start()`

async function takeOver(jupyter: JupyterServer): Promise<void> {
  const { kernel, forget } = await startKernel(jupyter)
  assert.equal((await runCell(kernel, `${impostor}\n${cut}`)).stdout, 'taken\n')
  forget()
  const right = { authorization: `token ${jupyter.token}` }
  for (;;) {
    const answer = await visit(`${jupyter.url}echo`, right)
    if ((await answer.text()).startsWith('GET /echo')) return
  }
}

test(
  'a process that answers in its place learns no token and no cookie, and sets none',
  { skip },
  async () => {
    await withJupyter(async ({ jupyter }) => {
      await takeOver(jupyter)
      const right = { authorization: `token ${jupyter.token}`, cookie: 'session=secret' }
      const request = await (await visit(`${jupyter.url}echo?token=${jupyter.token}&other=1`, right)).text()
      assert.match(request, /^GET \/echo\?other=1 HTTP/)
      assert.doesNotMatch(request, new RegExp(`${jupyter.token}|session|secret`))
      const answer = await visit(`${jupyter.url}cookies`, right)
      assert.equal(answer.status, 200)
      assert.deepEqual([answer.headers.getSetCookie(), answer.headers.get('clear-site-data')], [[], null])
    })
  },
)

test('an invalid answer is reported as such, and the port continues', { skip }, async () => {
  await withJupyter(async ({ jupyter }) => {
    await takeOver(jupyter)
    const right = { authorization: `token ${jupyter.token}` }
    for (const name of ['garbage', 'header', 'status', 'odd'])
      assert.equal((await visit(`${jupyter.url}${name}`, right).catch(() => null))?.status, 502, name)
    assert.equal(await (await visit(`${jupyter.url}texts`, right)).text(), 'a')
    // The server switches protocols although the request does not ask for it.
    await assert.rejects(visit(`${jupyter.url}switch`, { ...right, 'x-n': '1' }).then(requireAnswer))
    const socket = new WebSocket(`${jupyter.url.replace('http', 'ws')}switch`, { headers: right })
    const [error] = (await once(socket, 'error')) as [Error]
    assert.match(error.message, /Sec-WebSocket-Accept/)
    assert.equal((await visit(`${jupyter.url}cookies`, right)).status, 200)
  })
})

function requireAnswer({ status }: Response): void {
  if (status === 502) throw new Error('no answer')
}

test('a long answer waits for its reader, and ends with it', { skip }, async () => {
  await withJupyter(async ({ jupyter }) => {
    await takeOver(jupyter)
    const { port } = new URL(jupyter.url)
    const right = { authorization: `token ${jupyter.token}` }
    const readers: Socket[] = []
    // Without backpressure, the host takes all 500 MB.
    await keepHeldFlat(async () => {
      for (let at = 0; at < 8; at++) {
        const reader = connect(Number(port), '127.0.0.1')
        const name = at % 2 === 0 ? 'long' : 'silent'
        reader.write(
          `GET /${name} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: token ${jupyter.token}\r\n\r\n`,
        )
        // Reads a little of it, and then stops reading.
        reader.once('readable', () => reader.read(1))
        readers.push(reader)
      }
      await Promise.all(readers.filter((_, at) => at % 2 === 0).map((reader) => once(reader, 'readable')))
      assert.equal((await visit(`${jupyter.url}cookies`, right)).status, 200)
      await untilPythonBlocks(() => false)
    })
    for (const reader of readers) reader.destroy()
    // Their places, of which there are 32, are free again.
    const all = () => Promise.all(Array.from({ length: 30 }, () => visit(`${jupyter.url}cookies`, right)))
    while (!(await all().catch(() => [])).some(({ status }) => status === 200)) assert.ok(true)
  })
})
