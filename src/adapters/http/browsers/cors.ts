/**
 * Pages of other origins that the operator named may call this server and read its answers. They need a token like
 * everybody else: nothing that a browser sends automatically grants access.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'

export const originsMax = 64
/** In seconds. */
const preflightSeconds = 600

/** Whether it is an origin as browsers write it: no path, no wildcard. */
export function isOrigin(text: string): boolean {
  return /^https?:\/\//.test(text) && URL.canParse(text) && new URL(text).origin === text
}

/** Whether a request comes from a page of one of these origins. */
export function isFromAllowed({ headers: { origin } }: IncomingMessage, origins: readonly string[]): boolean {
  return origin !== undefined && origins.includes(origin)
}

/** Lets such a page read the reply. Returns whether the request was a preflight, which is answered here. */
export function answerAllowed(request: IncomingMessage, response: ServerResponse): boolean {
  const { origin = '', 'access-control-request-method': asked } = request.headers
  response.setHeader('access-control-allow-origin', origin)
  response.setHeader('vary', 'origin')
  response.setHeader(
    'access-control-expose-headers',
    'x-request-id, retry-after, location, content-range, x-file-type, x-file-mode',
  )
  if (request.method !== 'OPTIONS' || asked === undefined) return false
  response
    .writeHead(204, {
      'access-control-allow-methods': 'GET, HEAD, POST, PUT, DELETE',
      'access-control-allow-headers': 'authorization, content-type, range, x-request-id',
      'access-control-max-age': String(preflightSeconds),
    })
    .end()
  return true
}
