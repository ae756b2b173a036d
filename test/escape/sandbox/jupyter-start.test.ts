/**
 * Answering for a Jupyter server during its start, with a module that a command has planted in its HOME: to make the host
 * contact other servers, or wait for ever; and learning the token of the port from browsers' requests.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'

import type { Sandbox } from '../../../src/index.ts'
import { systemClock } from '../../../src/core/clock.ts'
import { createLazaret } from '../../support/create-lazaret.ts'
import { useLazaret } from '../../support/use-lazaret.ts'

const { level } = await useLazaret()
const skip = level === 'restricted' && 'without namespaces there is no place for it'
const startMs = 60_000
/** A minute on the clock passes in seconds. */
const clock = {
  ...systemClock,
  after: (ms: number, act: () => void) => systemClock.after(ms === startMs ? 3000 : ms, act),
}

/** Python runs it before the server's own code; `answer` is a statement about `one`. */
const planted = (answer: string) => `
import os, socket, sys
if sys.argv[:1] == ['-c']:
    os.makedirs('/tmp/jupyter', exist_ok=True)
    server = socket.socket(socket.AF_UNIX)
    server.bind('/tmp/jupyter/server.sock')
    server.listen(8)
    held = []
    while True:
        one = server.accept()[0]
        held.append(one)
        asked = one.recv(65536)
        ${answer}`

async function plant(sandbox: Sandbox, answer: string): Promise<void> {
  const { stdout } = await sandbox.exec('python3 -c "import site; print(site.getusersitepackages())"')
  await sandbox.writeFile(`${stdout.trim()}/usercustomize.py`, planted(answer), { createParents: true })
}

test('the host follows no redirect of it', { skip }, async () => {
  let visits = 0
  const victim = createServer((_request, response) => {
    visits++
    response.end()
  }).listen(0, '127.0.0.1')
  await once(victim, 'listening')
  const { port } = victim.address() as AddressInfo
  {
    await using lazaret = createLazaret()
    await using sandbox = await lazaret.sandbox()
    const answer = `HTTP/1.1 302 Found\\r\\nLocation: http://127.0.0.1:${port}/\\r\\nContent-Length: 0\\r\\n\\r\\n`
    await plant(sandbox, `one.sendall(b'${answer}')`)
    await assert.rejects(sandbox.startJupyter(), { code: 'CELL_FAILED', message: /answered with 302/ })
  }
  assert.equal(visits, 0)
  victim.close()
  await once(victim, 'close')
})

for (const [what, answer] of [
  ['nothing', 'pass'],
  ['the begin of an answer', "one.sendall(b'HTTP/1.1 200 OK\\r\\n')"],
] as const)
  test(`the host does not wait for ever for a server that answers ${what}`, { skip }, async () => {
    await using lazaret = createLazaret({ clock })
    await using sandbox = await lazaret.sandbox()
    await plant(sandbox, answer)
    await assert.rejects(sandbox.startJupyter(), { code: 'CELL_FAILED', message: /did not answer/ })
  })

test('the token is not in the Referer that a browser sends to it', { skip }, async () => {
  await using lazaret = createLazaret()
  await using sandbox = await lazaret.sandbox()
  const echo = `one.sendall(b'HTTP/1.1 200 OK\\r\\nContent-Length: %d\\r\\nConnection: close\\r\\n\\r\\n%b' % (len(asked), asked))`
  await plant(sandbox, echo)
  await using jupyter = await sandbox.startJupyter()
  const ask = (more: Readonly<Record<string, string>>) =>
    fetch(jupyter.url, { headers: { authorization: `token ${jupyter.token}`, ...more } })
  const request = await (await ask({ referer: `${jupyter.url}lab?token=${jupyter.token}` })).text()
  assert.match(request, /referer: http:\/\/127\.0\.0\.1:\d+\/lab\r/i)
  assert.ok(!request.includes(jupyter.token), request)
})

test(
  'a page of another port of this machine gets nothing by the cookies of a browser',
  { skip },
  async () => {
    await using lazaret = createLazaret()
    await using sandbox = await lazaret.sandbox()
    const empty = String.raw`HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`
    await plant(sandbox, `one.sendall(b'${empty}'); one.close()`)
    await using jupyter = await sandbox.startJupyter()
    const cookie = `lazaret-jupyter-${new URL(jupyter.url).port}=${jupyter.token}`
    const { request } = await import('node:http')
    const statusOf = async (site: string, mode: string): Promise<number | undefined> => {
      const asked = request(jupyter.url, {
        headers: { cookie, 'sec-fetch-site': site, 'sec-fetch-mode': mode },
      }).end()
      const [answer] = (await once(asked, 'response')) as [{ statusCode?: number; resume(): void }]
      answer.resume()
      return answer.statusCode
    }
    assert.equal(await statusOf('same-site', 'no-cors'), 403)
    assert.equal(await statusOf('cross-site', 'no-cors'), 403)
    assert.equal(await statusOf('same-origin', 'cors'), 200)
    assert.equal(await statusOf('cross-site', 'navigate'), 200)
  },
)

test(
  'the end of a sandbox does not wait for an interpreter that computes instead of starting',
  { skip },
  async () => {
    await using lazaret = createLazaret()
    for (const isBegun of [false, true]) {
      const sandbox = await lazaret.sandbox({ env: { PYTHONPATH: '/workspace/own' } })
      const endless =
        'import sys\nif sys.argv[:1] == ["-c"]:\n    open("/workspace/begun", "w").close()\n    while True: pass'
      await sandbox.writeFile('/workspace/own/sitecustomize.py', endless, { createParents: true })
      const starting = assert.rejects(sandbox.startJupyter(), { code: 'SANDBOX_GONE' })
      if (isBegun) await untilThere(sandbox, '/workspace/begun')
      await sandbox.destroy()
      await starting
    }
  },
)

async function untilThere(sandbox: Sandbox, path: string): Promise<void> {
  for (;;) if (await sandbox.exists(path)) return
}
