/**
 * `lazaret serve` ends during the requests of many clients. After SIGTERM each request gets a complete answer, a refusal, or no
 * connection: no answer is cut off. After SIGKILL nothing is left, and the next server works.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'

import { spawnCli } from '../../test/adapters/cli/spawn-cli.ts'
import { eventually } from '../../test/support/eventually.ts'
import { isAlive, listDescendants } from '../../test/support/machine/processes.ts'

const clients = 40
const loadMs = 3000
/** Errors of requests that were not accepted: the port is closed, or closes during the request. */
const notTaken = ['ECONNREFUSED', 'ECONNRESET', 'EPIPE']

async function serve() {
  const args = ['serve', '--port', '0', '--json', '--minimum', 'restricted']
  const child = spawnCli([...args, '--bound', `runningPerTokenMax=${clients}`])
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string]
  const { url, token } = JSON.parse(line) as { readonly url: string; readonly token: string }
  return { child, url, token, pid: child.pid as number, ended: once(child, 'close') as Promise<unknown[]> }
}

type End = 'answered' | 'refused' | 'not taken' | 'torn'

/** On a new connection, because an idle one may be closed at any time. */
async function runOnce(
  { url, token }: { readonly url: string; readonly token: string },
  name: string,
): Promise<End> {
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    connection: 'close',
  }
  const sent = request(`${url}/v1/run`, { method: 'POST', headers, agent: false })
  sent.end(JSON.stringify({ language: 'shell', code: `sleep 0.2; echo ${name}` }))
  let response
  try {
    ;[response] = await once(sent, 'response')
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    return notTaken.includes(code) ? 'not taken' : 'torn'
  }
  const body = await text(response).catch(() => '')
  if (!response.complete) return 'torn'
  if (response.statusCode === 503) return 'refused'
  assert.equal(response.statusCode, 200, body)
  assert.equal((JSON.parse(body) as { stdout: string }).stdout, `${name}\n`)
  return 'answered'
}

function load(server: { readonly url: string; readonly token: string }) {
  const ends: Record<End, number> = { answered: 0, refused: 0, 'not taken': 0, torn: 0 }
  const over = new AbortController()
  const all = Array.from({ length: clients }, async (_, client) => {
    for (let turn = 0; !over.signal.aborted; turn++) {
      const end = await runOnce(server, `${client}-${turn}`)
      ends[end]++
      if (end === 'not taken') await pause(20)
    }
  })
  return {
    ends,
    async stop() {
      over.abort()
      await Promise.all(all)
    },
  }
}

test('SIGTERM under load truncates no answer, and the server exits with 0', async (context) => {
  const server = await serve()
  const work = load(server)
  await eventually(() => (work.ends.answered >= clients ? undefined : 'it answers slowly'), 60_000)
  server.child.kill('SIGTERM')
  assert.deepEqual(await server.ended, [0, null])
  await work.stop()
  context.diagnostic(JSON.stringify(work.ends))
  assert.ok(work.ends['not taken'] > 0)
  assert.equal(work.ends.torn, 0)
})

test('SIGKILL under load leaves no process, and the next server works', async () => {
  const server = await serve()
  const work = load(server)
  await pause(loadMs)
  const descendants = listDescendants(server.pid)
  assert.ok(descendants.length > 0)
  server.child.kill('SIGKILL')
  await server.ended
  await work.stop()
  await eventually(() => {
    const alive = descendants.filter(isAlive)
    return alive.length === 0 ? undefined : `${alive.length} processes live`
  }, 20_000)
  const next = await serve()
  assert.equal(await runOnce(next, 'next'), 'answered')
  next.child.kill('SIGTERM')
  assert.deepEqual(await next.ended, [0, null])
})
