/** Routes for operators and load balancers: whether the server is alive and takes work, and its metrics. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { LazaretError } from '../../../core/errors/errors.ts'
import type { Lazaret } from '../../../engine/api.ts'

export interface Metrics {
  readonly contentType: string
  page(lazaret: Lazaret): Promise<string>
}

export interface ServerState {
  readonly isDraining: boolean
  readonly lazaret: Lazaret
  /** Undefined if the optional package for metrics is not installed. */
  readonly metrics: Metrics | undefined
}

type StatePath = '/healthz' | '/readyz' | '/metrics'

/** Throws METHOD_NOT_ALLOWED, or NOT_FOUND without metrics. */
export async function serveState(
  path: StatePath,
  { request, response }: { readonly request: IncomingMessage; readonly response: ServerResponse },
  { isDraining, lazaret, metrics }: ServerState,
): Promise<void> {
  if (request.method !== 'GET' && request.method !== 'HEAD')
    throw new LazaretError('METHOD_NOT_ALLOWED', { detail: 'It allows GET, HEAD.' })
  const say = (status: number, text: string, type = 'text/plain; charset=utf-8'): void => {
    response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' }).end(text)
  }
  if (path === '/healthz') return say(200, 'ok\n')
  if (path === '/readyz') return isDraining ? say(503, 'draining\n') : say(200, 'ok\n')
  if (metrics === undefined)
    throw new LazaretError('NOT_FOUND', { hint: 'Install the optional package `prom-client`.' })
  return say(200, await metrics.page(lazaret), metrics.contentType)
}
