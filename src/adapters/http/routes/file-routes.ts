/** Files of a sandbox over HTTP: read and written as bytes, listed, moved, deleted, and whole folders as tar. */
import { LazaretError } from '../../../core/errors/errors.ts'
import type { FileInfo } from '../../../sandbox/files/file-info.ts'
import { stallMs } from '../body.ts'
import type { Exchange } from '../exchange.ts'
import type { Api, Route } from './routes.ts'
import { invalid } from './run-routes.ts'
import { sandboxOf } from './sandbox-routes.ts'
import { streamBytes } from '../stream-bytes.ts'

const scope = 'sandbox'
const one = '/v1/sandboxes/{id}'
/** Relative to /workspace; an absolute path has its first slash as `%2F`. */
const file = `${one}/files/{path...}`

export const fileRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: file,
    scope,
    summary: 'Read a file, or list or stat a path',
    query: ['list', 'recursive', 'entriesMax', 'stat', 'followLinks'],
    status: 200,
    reply: ['bytes', 'File'],
    serve: get,
  },
  {
    method: 'HEAD',
    path: file,
    scope,
    summary: 'Metadata of a path',
    status: 200,
    serve: head,
  },
  {
    method: 'PUT',
    path: file,
    scope,
    summary: 'Write a file, or create a folder',
    query: ['createParents', 'folder', 'recursive'],
    body: 'bytes',
    status: 204,
    serve: put,
  },
  {
    method: 'DELETE',
    path: file,
    scope,
    summary: 'Delete a file or a folder',
    query: ['recursive'],
    status: 204,
    serve: remove,
  },
  {
    method: 'POST',
    path: `${one}/rename`,
    scope,
    summary: 'Rename a file or a folder',
    body: 'MoveRequest',
    status: 204,
    serve: (exchange, api) => move(exchange, api, 'renameFile'),
  },
  {
    method: 'POST',
    path: `${one}/move`,
    scope,
    summary: 'Move a file, also to another file system',
    body: 'MoveRequest',
    status: 204,
    serve: (exchange, api) => move(exchange, api, 'moveFile'),
  },
  {
    method: 'GET',
    path: `${one}/archive`,
    scope,
    summary: 'A folder as a tar',
    query: ['path', 'entriesMax', 'bytesMax'],
    status: 200,
    reply: 'bytes',
    serve: download,
  },
  {
    method: 'PUT',
    path: `${one}/archive`,
    scope,
    summary: 'Unpack a tar, plain or gzipped',
    query: ['path', 'entriesMax', 'bytesMax'],
    body: 'bytes',
    status: 200,
    reply: 'Uploaded',
    serve: upload,
  },
]

type Query = Readonly<Record<string, string | undefined>>

const flagNames = ['list', 'recursive', 'stat', 'followLinks', 'createParents', 'folder'] as const
/** A flag usually has no value: `?list`. */
const flagValues = ['', 'true', 'false']

/** The schema of a key of a query; undefined for one that is no flag. */
export function flagSchema(name: string): object | undefined {
  const isFlag = (flagNames as readonly string[]).includes(name)
  return isFlag ? { type: 'string', enum: flagValues } : undefined
}

function flag(query: Query, name: (typeof flagNames)[number]): boolean {
  const value = query[name]
  if (value === undefined || value === 'false') return false
  if (flagValues.includes(value)) return true
  throw invalid(`${name}: must stand alone, or be true or false`)
}

function count(query: Query, name: string): number | undefined {
  const value = query[name]
  if (value === undefined) return undefined
  if (!/^\d{1,16}$/.test(value)) throw invalid(`${name}: must be a whole number`)
  return Number(value)
}

async function get(exchange: Exchange, api: Api): Promise<void> {
  const sandbox = sandboxOf(exchange, api)
  using turn = api.quotas.begin(exchange.token)
  void turn
  const query = exchange.queryOf(['list', 'recursive', 'entriesMax', 'stat', 'followLinks'])
  const path = exchange.param('path')
  if (flag(query, 'list')) {
    const entriesMax = count(query, 'entriesMax')
    const options = { recursive: flag(query, 'recursive'), ...(entriesMax !== undefined && { entriesMax }) }
    await exchange.reply(200, await sandbox.listFiles(path === '' ? undefined : path, options))
    return
  }
  if (flag(query, 'stat')) {
    const followLinks = query.followLinks === undefined || flag(query, 'followLinks')
    await exchange.reply(200, await sandbox.stat(path, { followLinks }))
    return
  }
  const range = exchange.parts.request.headers.range
  if (range === undefined) await streamBytes(exchange.parts, sandbox.readFileStream(path))
  else
    await streamRange(exchange, sandbox.readFileStream(path), {
      range,
      bytes: (await sandbox.stat(path)).bytes,
    })
}

interface AskedRange {
  readonly range: string
  /** How long the file is. */
  readonly bytes: number
}

/** One range; several ranges or an invalid one return the whole file, as RFC 9110 allows. */
async function streamRange(
  exchange: Exchange,
  content: AsyncIterable<Uint8Array>,
  { range, bytes }: AskedRange,
): Promise<void> {
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(range) ?? []
  if (first === '' && last === '') return streamBytes(exchange.parts, content)
  const from = first === '' ? Math.max(0, bytes - Number(last)) : Number(first)
  const to = first === '' || last === '' ? bytes - 1 : Math.min(Number(last), bytes - 1)
  if (from > to) {
    await exchange.reply(416, undefined, { 'content-range': `bytes */${bytes}` })
    return undefined
  }
  const headers = { 'content-range': `bytes ${from}-${to}/${bytes}`, 'content-length': String(to + 1 - from) }
  return streamBytes(exchange.parts, cut(content, from, to + 1), { status: 206, headers })
}

async function* cut(
  content: AsyncIterable<Uint8Array>,
  from: number,
  to: number,
): AsyncGenerator<Uint8Array> {
  let at = 0
  for await (const piece of content) {
    const part = piece.subarray(Math.max(0, from - at), Math.max(0, to - at))
    if (part.length > 0) yield part
    at += piece.length
    if (at >= to) return
  }
}

async function head(exchange: Exchange, api: Api): Promise<void> {
  const sandbox = sandboxOf(exchange, api)
  using turn = api.quotas.begin(exchange.token)
  void turn
  const { bytes, type, mode, modifiedMs }: FileInfo = await sandbox.stat(exchange.param('path'))
  exchange.parts.response
    .writeHead(200, {
      'x-request-id': exchange.parts.id,
      'cache-control': 'no-store',
      'content-type': type === 'file' ? 'application/octet-stream' : `application/x-${type}`,
      'content-length': String(bytes),
      'accept-ranges': 'bytes',
      'last-modified': new Date(modifiedMs).toUTCString(),
      'x-file-type': type,
      'x-file-mode': mode.toString(8),
    })
    .end()
}

async function put(exchange: Exchange, api: Api): Promise<void> {
  const sandbox = sandboxOf(exchange, api)
  using turn = api.quotas.begin(exchange.token)
  void turn
  const query = exchange.queryOf(['createParents', 'folder', 'recursive'])
  const path = exchange.param('path')
  if (flag(query, 'folder')) await sandbox.mkdir(path, { recursive: flag(query, 'recursive') })
  else {
    const bytes = await exchange.readBytes()
    await sandbox.writeFile(path, bytes, { createParents: flag(query, 'createParents') })
  }
  await exchange.reply(204)
}

async function remove(exchange: Exchange, api: Api): Promise<void> {
  const sandbox = sandboxOf(exchange, api)
  using turn = api.quotas.begin(exchange.token)
  void turn
  const query = exchange.queryOf(['recursive'])
  await sandbox.deleteFile(exchange.param('path'), { recursive: flag(query, 'recursive') })
  await exchange.reply(204)
}

async function move(exchange: Exchange, api: Api, how: 'renameFile' | 'moveFile'): Promise<void> {
  const sandbox = sandboxOf(exchange, api)
  using turn = api.quotas.begin(exchange.token)
  void turn
  const { from, to } = await exchange.readJson()
  await sandbox[how](from as string, to as string)
  await exchange.reply(204)
}

async function download(exchange: Exchange, api: Api): Promise<void> {
  const sandbox = sandboxOf(exchange, api)
  using turn = api.quotas.begin(exchange.token)
  void turn
  await streamBytes(exchange.parts, sandbox.downloadTar(readArchive(exchange)), {
    headers: { 'content-type': 'application/x-tar' },
  })
}

/** Unpacks a stream: only the part that is being unpacked is in memory. */
async function upload(exchange: Exchange, api: Api): Promise<void> {
  const sandbox = sandboxOf(exchange, api)
  using turn = api.quotas.begin(exchange.token)
  void turn
  try {
    await exchange.reply(200, await sandbox.uploadTar(readPieces(exchange), readArchive(exchange)))
  } catch (error) {
    if (exchange.signal.aborted) throw new LazaretError('CONNECTION_LOST', { cause: error })
    throw error
  }
}

/**
 * A refusal needs the connection on which the rest of the body arrives, so it stays open. A stalled client is
 * disconnected.
 */
async function* readPieces({ parts: { request, clock } }: Exchange): AsyncGenerator<Uint8Array> {
  const arm = (): (() => void) => clock.after(stallMs, () => request.destroy())
  let disarm = arm()
  try {
    for await (const piece of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      disarm()
      yield piece
      disarm = arm()
    }
  } finally {
    disarm()
  }
}

function readArchive(exchange: Exchange): { path?: string; entriesMax?: number; bytesMax?: number } {
  const query = exchange.queryOf(['path', 'entriesMax', 'bytesMax'])
  const [entriesMax, bytesMax] = [count(query, 'entriesMax'), count(query, 'bytesMax')]
  return {
    ...(query.path !== undefined && { path: query.path }),
    ...(entriesMax !== undefined && { entriesMax }),
    ...(bytesMax !== undefined && { bytesMax }),
  }
}
