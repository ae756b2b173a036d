/**
 * The console: a few static files, served to every browser that uses the server's name. They contain no secrets and
 * read none: a page can do nothing without a token.
 *
 * Stops: scripts, styles and connections that are not this server's, frames of other pages, and text that becomes HTML or
 * code.
 */
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { LazaretError } from '../../../core/errors/errors.ts'
import { frameStyle } from './frame-style.ts'

const folder = new URL('../../../../dist/console/', import.meta.url)

/** Only these paths are served, whatever else the folder holds. */
const files: Readonly<Record<string, { readonly name: string; readonly type: string }>> = {
  '/': { name: 'index.html', type: 'text/html; charset=utf-8' },
  '/docs': { name: 'index.html', type: 'text/html; charset=utf-8' },
  '/console.js': { name: 'console.js', type: 'text/javascript; charset=utf-8' },
  '/terminal.js': { name: 'terminal.js', type: 'text/javascript; charset=utf-8' },
  '/console.css': { name: 'console.css', type: 'text/css; charset=utf-8' },
  '/icon.svg': { name: 'icon.svg', type: 'image/svg+xml' },
}

const frameStyleHash = createHash('sha256').update(frameStyle).digest('base64')

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  // Frames with HTML and SVG of guests inherit this policy.
  `style-src 'self' 'sha256-${frameStyleHash}'`,
  // An SVG in such a frame is a data URL: blobs of this page are not readable there.
  "img-src 'self' blob: data:",
  "connect-src 'self'",
  'frame-src blob:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

const headers = {
  'content-security-policy': policy,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
  vary: 'accept-encoding',
}

export function isConsolePath(path: string): boolean {
  return Object.hasOwn(files, path)
}

/** Whether a user follows a link, as opposed to another page that embeds or fetches it. */
export function isNavigation({
  method,
  headers: { 'sec-fetch-mode': mode, 'sec-fetch-dest': dest },
}: IncomingMessage): boolean {
  return method === 'GET' && mode === 'navigate' && dest === 'document'
}

/** Their contents, as of the first request. */
const loaded = new Map<string, { readonly plain: Buffer; readonly zipped: Buffer }>()

/** Throws METHOD_NOT_ALLOWED, or NOT_FOUND in a checkout that was not built. */
export function serveConsole(path: string, request: IncomingMessage, response: ServerResponse): void {
  if (request.method !== 'GET' && request.method !== 'HEAD')
    throw new LazaretError('METHOD_NOT_ALLOWED', { detail: 'It allows GET, HEAD.' })
  const { name, type } = files[path] ?? { name: '', type: '' }
  const { plain, zipped } = load(name)
  const takesZipped = /\bgzip\b/.test(request.headers['accept-encoding'] ?? '')
  const body = takesZipped ? zipped : plain
  response.writeHead(200, {
    ...headers,
    'content-type': type,
    'content-length': String(body.length),
    ...(takesZipped && { 'content-encoding': 'gzip' }),
  })
  response.end(request.method === 'HEAD' ? undefined : body)
}

function load(name: string): { readonly plain: Buffer; readonly zipped: Buffer } {
  const known = loaded.get(name)
  if (known !== undefined) return known
  const place = new URL(name, folder)
  if (!existsSync(place)) throw new LazaretError('NOT_FOUND', { hint: 'Build it: npm run build.' })
  const plain = readFileSync(place)
  const read = { plain, zipped: gzipSync(plain) }
  loaded.set(name, read)
  return read
}
