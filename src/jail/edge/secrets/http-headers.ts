/** Which requests of a guest are for the host that its connection leads to, and which headers pass the proxy. Pure. */
import type { IncomingMessage } from 'node:http'

import type { HiddenValues } from './hidden-values.ts'
import { maskText } from './masker.ts'
import type { RawHeaders } from './placed-secrets.ts'
import type { Admission } from './proxy-messages.ts'

/** Headers that apply to a single connection (RFC 9110, section 7.6.1). */
const hopByHop = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
] as const

export interface Misfit {
  readonly status: number
  readonly text: string
}

/** A server may have several sites, and the request's host chooses one: it has to be the host that was checked. */
export function explainMisfit(
  { rawHeaders, url = '', headers }: Pick<IncomingMessage, 'rawHeaders' | 'url' | 'headers'>,
  { target: { host, port }, isEncrypted }: Admission,
): Misfit | undefined {
  const hosts = rawHeaders.filter((_, index) => index % 2 === 1 && isNamed(rawHeaders[index - 1], 'host'))
  const written = hosts.length === 1 ? hosts[0]?.toLowerCase() : undefined
  const isUsualPort = port === (isEncrypted ? 443 : 80)
  if (written !== `${host}:${port}` && !(isUsualPort && written === host))
    return { status: 421, text: `This connection is only for the host ${host}.` }
  if (!url.startsWith('/')) return { status: 400, text: 'The target of a request must be a path.' }
  const coding = headers['transfer-encoding']?.toLowerCase()
  if (coding !== undefined && coding !== 'chunked')
    return { status: 400, text: 'The only transfer coding of a body is chunked.' }
  return undefined
}

interface Sending {
  /** Replaces what the guest sent. */
  readonly body?: Buffer | undefined
  readonly isUpgrade?: boolean
}

/** Removes headers of the guest's own connection, and those that ask for answers in which secrets could not be found. */
export function headersTo(headers: RawHeaders, { body, isUpgrade = false }: Sending): string[] {
  const dropped = [
    'accept-encoding',
    'expect',
    // A part of an answer could be a part of a secret.
    'range',
    'if-range',
    'sec-websocket-extensions',
    ...(body === undefined ? [] : ['content-length']),
  ]
  const isChunked = body === undefined && !isUpgrade && headers.some(isTransferEncoding)
  return [
    ...without(headers, [...hopByHop, ...namedIn(headers), ...dropped]),
    ...['Accept-Encoding', 'identity'],
    ...(body === undefined ? [] : ['Content-Length', String(body.length)]),
    ...(isChunked ? ['Transfer-Encoding', 'chunked'] : []),
    ...(isUpgrade ? ['Connection', 'Upgrade', 'Upgrade', 'websocket'] : []),
  ]
}

const isTransferEncoding = (name: string, index: number): boolean =>
  index % 2 === 0 && isNamed(name, 'transfer-encoding')

/** Removes headers of our own connection, and those that announce other ways to the same host. */
export function headersFrom(headers: RawHeaders, hidden: HiddenValues): string[] {
  return without(headers, [...hopByHop, ...namedIn(headers), 'alt-svc']).map((text) => maskText(text, hidden))
}

/** Headers that `Connection` names apply to one connection, too; those that frame a message never do. */
function namedIn(headers: RawHeaders): string[] {
  const values = headers.filter((_, index) => index % 2 === 1 && isNamed(headers[index - 1], 'connection'))
  const kept = ['host', 'content-length', 'content-encoding', 'authorization']
  return values
    .flatMap((value) => value.split(','))
    .map((name) => name.trim().toLowerCase())
    .filter((name) => !kept.includes(name))
}

function without(headers: RawHeaders, names: readonly string[]): string[] {
  return headers.filter((_, index) => {
    const name = headers[index - (index % 2)] ?? ''
    return !names.includes(name.toLowerCase())
  })
}

const isNamed = (written: string | undefined, name: string): boolean => written?.toLowerCase() === name
