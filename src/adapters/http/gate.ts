/**
 * Decides which requests are admitted. No body is read and nothing runs before the host, the origin and the token of a
 * request are checked.
 *
 * Stops: web pages that call the server by its address, by a name that resolves to it (DNS rebinding) or with a form.
 * Does not stop: anyone with a token.
 */
import type { IncomingMessage } from 'node:http'
import { LazaretError } from '../../core/errors/errors.ts'
import type { ApiToken, ApiTokens, TokenScope } from './api-tokens.ts'
import { isFromAllowed } from './browsers/cors.ts'

/**
 * Throws ACCESS_DENIED for a request that names another host: it comes from a page whose own name resolves to this machine.
 */
export function requireOwnName({ headersDistinct }: IncomingMessage, names: readonly string[]): string {
  const hosts = headersDistinct['host'] ?? []
  const [, name = ''] = /^(\[[0-9a-f:.]+\]|[\w.-]+)(?::\d{1,5})?$/i.exec(hosts[0] ?? '') ?? []
  if (hosts.length !== 1 || !names.includes(name.toLowerCase()))
    throw denied('The `Host` header does not name this server.', hostHint)
  return hosts[0] ?? ''
}

/**
 * Throws ACCESS_DENIED for a request that names another host, or comes from a page of another origin that is not among
 * these.
 */
export function requireOwnHost(
  request: IncomingMessage,
  names: readonly string[],
  origins: readonly string[],
): void {
  const host = requireOwnName(request, names)
  if (isFromAllowed(request, origins)) return
  const { origin, 'sec-fetch-site': site } = request.headers
  if (origin !== undefined && hostOf(origin) !== host)
    throw denied('The `Origin` header names another origin.', originHint)
  if (site !== undefined && site !== 'same-origin' && site !== 'none')
    throw denied('A page of another origin may not call this server.', originHint)
}

/** Throws INVALID_REQUEST: every proxy on the way logs URLs. */
export function requireNoTokenInAddress(query: URLSearchParams): void {
  for (const name of query.keys())
    if (/token|secret|authorization|api[-_]?key|password/i.test(name))
      throw new LazaretError('INVALID_REQUEST', {
        detail: 'A token belongs in the `Authorization` header, never in a URL.',
      })
}

/** Throws UNAUTHENTICATED, or ACCESS_DENIED for a token without the scope. */
export function requireToken(
  tokens: ApiTokens,
  header: string | undefined,
  scope: TokenScope | 'any',
): ApiToken {
  const token = tokens.find(header)
  if (token === undefined) throw new LazaretError('UNAUTHENTICATED')
  if (scope !== 'any' && !token.scopes.includes(scope))
    throw new LazaretError('ACCESS_DENIED', {
      detail: `The token lacks the scope ${JSON.stringify(scope)}.`,
      hint: 'Ask the operator for a token with this scope.',
    })
  return token
}

function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined
}

const hostHint = 'Use the address that `lazaret serve` prints; name further ones with `--public-host`.'
const originHint =
  'The operator allows pages of other origins with `--cors <origin>`. A proxy in front must pass on `Host`.'

function denied(detail: string, hint: string): LazaretError {
  return new LazaretError('ACCESS_DENIED', { detail, hint })
}
