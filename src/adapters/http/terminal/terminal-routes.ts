/** The terminal of a sandbox in the table of routes. A request without WebSocket gets an error that says so. */
import type { Route } from '../routes/routes.ts'
import { invalid } from '../routes/run-routes.ts'

export const terminalRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/v1/sandboxes/{id}/terminal',
    scope: 'sandbox',
    summary: 'A terminal, over WebSocket',
    query: ['columns', 'rows', 'process', 'session'],
    status: 101,
    serve: async () => {
      throw invalid('Upgrade: a terminal needs WebSocket')
    },
  },
]
