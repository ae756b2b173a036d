/**
 * Ports of a sandbox that programs on the server's machine can reach, each at its own origin. Only for tokens whose
 * entry allows it, because connections to such a port need no token.
 */
import { LazaretError } from '../../../core/errors/errors.ts'
import type { ExposedPort } from '../../../sandbox/ports/exposed-ports.ts'
import type { Sandbox } from '../../../sandbox/sandbox.ts'
import type { Exchange } from '../exchange.ts'
import { requireGrants } from '../grants.ts'
import type { Api, Route } from './routes.ts'
import { invalid } from './run-routes.ts'
import { sandboxOf } from './sandbox-routes.ts'

const scope = 'sandbox'
const all = '/v1/sandboxes/{id}/ports'

export const portRoutes: readonly Route[] = [
  {
    method: 'POST',
    path: all,
    scope,
    summary: 'Expose a port of the sandbox on a loopback port of the server',
    body: 'PortRequest',
    status: 201,
    reply: 'Port',
    serve: expose,
  },
  {
    method: 'DELETE',
    path: `${all}/{port}`,
    scope,
    summary: 'Close an exposed port and its connections',
    status: 204,
    serve: close,
  },
]

/** Keys are the ports inside the sandbox. Ports that are still open end with their sandbox. */
const exposed = new WeakMap<Sandbox, Map<number, ExposedPort>>()

async function expose(exchange: Exchange, api: Api): Promise<void> {
  const sandbox = sandboxOf(exchange, api)
  const { port, ...others } = await exchange.readJson()
  const [unknown] = Object.keys(others)
  if (unknown !== undefined)
    throw invalid(`unknown key ${JSON.stringify(unknown.slice(0, 100))}; known keys: port`)
  requireGrants(exchange.token, { port })
  const open = portsOf(sandbox)
  if (open.has(port as number)) throw invalid('port: it is already exposed')
  const one = await sandbox.exposePort(port as number)
  if (exchange.signal.aborted || open.has(one.port)) {
    await one.close()
    throw invalid('port: it is already exposed')
  }
  open.set(one.port, one)
  const path = `/v1/sandboxes/${encodeURIComponent(exchange.param('id'))}/ports/${one.port}`
  await exchange.reply(201, { port: one.port, url: one.url }, { location: path })
}

async function close(exchange: Exchange, api: Api): Promise<void> {
  const open = portsOf(sandboxOf(exchange, api))
  const port = Number(exchange.param('port'))
  const one = open.get(port)
  if (one === undefined) throw new LazaretError('NOT_FOUND')
  open.delete(port)
  await one.close()
  await exchange.reply(204)
}

function portsOf(sandbox: Sandbox): Map<number, ExposedPort> {
  const known = exposed.get(sandbox) ?? new Map<number, ExposedPort>()
  exposed.set(sandbox, known)
  return known
}
