/** The options of a connection, and their checks. */
import { LazaretError } from '../../core/errors/errors.ts'

export interface ConnectOptions {
  /** The address, as `lazaret serve` prints it. */
  readonly url: string
  readonly token: string
  /** Replaces the platform's `fetch`, for proxies, certificates or tests. */
  readonly fetch?: typeof fetch
  /** How often a read-only request is retried if it got no answer, or an answer with `Retry-After`. Default 2. */
  readonly retriesMax?: number
}

const retriesUsual = 2
/** More would not help: the pauses between that many retries add up to minutes. */
const retriesCeiling = 100

/** Returns the options with an address that does not end in a slash. Throws INVALID_REQUEST. */
export function checkConnectOptions(options: unknown): ConnectOptions & { readonly retriesMax: number } {
  if (typeof options !== 'object' || options === null) throw refuse('options: must be { url, token }.')
  const { url, token, fetch: own, retriesMax = retriesUsual } = options as Record<string, unknown>
  if (token === '' || token === undefined)
    throw refuse('token: must be one that `lazaret token create` has made, and is missing.')
  if (typeof token !== 'string' || !/^[\x21-\x7e]+$/.test(token))
    throw refuse('token: must be printable characters without spaces.')
  if (own !== undefined && typeof own !== 'function') throw refuse('fetch: must be a function.')
  if (!isCount(retriesMax)) throw refuse(`retriesMax: must be a whole number from 0 to ${retriesCeiling}.`)
  return {
    url: checkAddress(url),
    token,
    ...(own !== undefined && { fetch: own as typeof fetch }),
    retriesMax,
  }
}

function checkAddress(url: unknown): string {
  const { protocol, origin, pathname } = parseAddress(url)
  if (protocol !== 'http:' && protocol !== 'https:') throw refuse('url: must begin with http:// or https://.')
  return origin + pathname.replace(/\/+$/, '')
}

function parseAddress(url: unknown): URL {
  try {
    return new URL(url as string)
  } catch (cause) {
    throw refuse('url: must be an address such as http://127.0.0.1:7341.', cause)
  }
}

function isCount(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= retriesCeiling
}

function refuse(detail: string, cause?: unknown): LazaretError {
  return new LazaretError('INVALID_REQUEST', { detail, cause })
}
