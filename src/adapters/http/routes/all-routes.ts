/** Every route of the API, in the order of its description. */
import { contextRoutes } from '../contexts/context-routes.ts'
import { figuresRoutes } from './figures-routes.ts'
import { fileRoutes } from './file-routes.ts'
import { describeApi } from '../openapi.ts'
import { portRoutes } from './port-routes.ts'
import { processRoutes } from './process-routes.ts'
import type { Route } from './routes.ts'
import { runRoutes } from './run-routes.ts'
import { sandboxRoutes } from './sandbox-routes.ts'
import { snippetRoutes } from './snippet-routes.ts'
import { terminalRoutes } from '../terminal/terminal-routes.ts'

export const routes: readonly Route[] = [
  ...runRoutes,
  ...snippetRoutes,
  ...sandboxRoutes,
  ...fileRoutes,
  ...processRoutes,
  ...portRoutes,
  ...terminalRoutes,
  ...contextRoutes,
  ...figuresRoutes,
  {
    method: 'GET',
    path: '/openapi.json',
    scope: 'any',
    summary: 'This description',
    status: 200,
    reply: 'OpenApi',
    serve: async (exchange, { version }) => exchange.replyConstant(describedFor(version)),
  },
]

const described = new Map<string, Buffer>()

/** All replies share the bytes: making the description takes ten milliseconds. */
function describedFor(version: string): Buffer {
  const known = described.get(version) ?? Buffer.from(`${JSON.stringify(describeApi(routes, version))}\n`)
  described.set(version, known)
  return known
}
