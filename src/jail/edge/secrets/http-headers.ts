/** Which requests of a guest are for the host that its connection leads to, and which headers pass the proxy. Pure. */
import type { IncomingMessage } from 'node:http'

import { maskText } from './masker.ts'
import type { RawHeaders } from './placed-secrets.ts'
import type { Admission } from './proxy-messages.ts'

/** Of one connection alone (RFC 9110, section 7.6.1). */
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

/** The host of a request decides which site a shared address answers for: it has to be the one that was checked. */
export function explainMisfit(
  { rawHeaders, url = '', headers }: Pick<IncomingMessage, 'rawHeaders' | 'url' | 'headers'>,
  { target: { host, port }, isEncrypted }: Admission,
): Misfit | undefined {
  const hosts = rawHeaders.filter((_, index) => index % 2 === 1 && isNamed(rawHeaders[index - 1], 'host'))
  const written = hosts.length === 1 ? hosts[0]?.toLowerCase() : undefined
  const isUsualPort = port === (isEncrypted ? 443 : 80)
  if (written !== `${host}:${port}` && !(isUsualPort && written === host))
    return { status: 421, text: `This connection is for the host ${host} alone.` }
  if (!url.startsWith('/')) return { status: 400, text: 'A request names a path of its host.' }
  const coding = headers['transfer-encoding']?.toLowerCase()
  if (coding !== undefined && coding !== 'chunked')
    return { status: 400, text: 'A body is sent whole or in chunks, and in no other coding.' }
  return undefined
}

interface Sending {
  /** Replaces what the guest sent. */
  readonly body?: Buffer | undefined
  readonly isUpgrade?: boolean
}

/** Without what belongs to the guest's own connection, and without a wish for answers in which nothing could be hidden. */
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

/** Without what belongs to our connection, and without hints at other ways to the same host. */
export function headersFrom(headers: RawHeaders, hidden: readonly string[]): string[] {
  return without(headers, [...hopByHop, ...namedIn(headers), 'alt-svc']).map((text) => maskText(text, hidden))
}

/** Headers that `Connection` names belong to one connection, too. Those that frame a message never do. */
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
