/** `GET /v1/stats` and `/v1/probe`: what runs, and what this machine offers. */
import type { Exchange } from '../exchange.ts'
import type { Api, Route } from './routes.ts'

export const figuresRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/v1/stats',
    scope: 'admin',
    summary: 'Running and queued runs, and the pools',
    status: 200,
    reply: 'Stats',
    serve: stats,
  },
  {
    method: 'GET',
    path: '/v1/probe',
    scope: 'admin',
    summary: 'What this machine offers',
    status: 200,
    reply: 'Probe',
    serve: probe,
  },
]

async function stats(exchange: Exchange, { engine }: Api): Promise<void> {
  await exchange.reply(200, engine.lazaret.stats())
}

async function probe(exchange: Exchange, { engine }: Api): Promise<void> {
  await exchange.reply(200, await engine.lazaret.probe())
}
