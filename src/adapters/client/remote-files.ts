/** Files of a sandbox on the server. */
import { toBase64 } from '../../core/values/base64.ts'
import { LazaretError } from '../../core/errors/errors.ts'
import type { FileInfo } from '../../sandbox/files/file-info.ts'
import type { FileListing } from '../../sandbox/files/file-listing.ts'
import type {
  ListFilesOptions,
  ReadFileOptions,
  WriteFileOptions,
} from '../../sandbox/files/sandbox-files.ts'
import type { UploadedTar, UploadTarOptions } from '../../sandbox/files/tar/upload-tar.ts'
import { connectionLost } from './connection.ts'
import type { SandboxConnection } from './sandbox-connection.ts'
import { isBytes, requireBytes } from './write-request.ts'

type TarContent = Uint8Array | AsyncIterable<Uint8Array> | ReadableStream<Uint8Array>

/** The methods of `Sandbox` with these names. */
export interface RemoteFiles {
  writeFile(path: string, content: string | Uint8Array, options?: WriteFileOptions): Promise<void>
  readFile(
    path: string,
    options?: ReadFileOptions & { readonly encoding?: 'utf8' | 'base64' },
  ): Promise<string>
  readFile(path: string, options: ReadFileOptions & { readonly encoding: 'bytes' }): Promise<Uint8Array>
  readFileStream(path: string): AsyncIterable<Uint8Array>
  mkdir(path: string, options?: { readonly recursive?: boolean }): Promise<void>
  listFiles(path?: string, options?: ListFilesOptions): Promise<FileListing>
  stat(path: string, options?: { readonly followLinks?: boolean }): Promise<FileInfo>
  exists(path: string): Promise<boolean>
  deleteFile(path: string, options?: { readonly recursive?: boolean }): Promise<void>
  renameFile(from: string, to: string): Promise<void>
  moveFile(from: string, to: string): Promise<void>
  uploadTar(source: TarContent, options?: UploadTarOptions): Promise<UploadedTar>
  downloadTar(options?: UploadTarOptions): AsyncIterable<Uint8Array>
}

/** The same default as in a local sandbox. */
const readBytesMax = 64 * 1024 * 1024

export function remoteFiles(sandbox: SandboxConnection): RemoteFiles {
  const move = async (how: string, from: string, to: string): Promise<void> =>
    void (await sandbox.send({ method: 'POST', path: how, json: JSON.stringify({ from, to }) }))
  const stat = (path: string, { followLinks }: { readonly followLinks?: boolean } = {}): Promise<FileInfo> =>
    sandbox.sendJson<FileInfo>({ method: 'GET', path: fileOf(path, { stat: true, followLinks }) })
  return {
    writeFile: async (path, content, options = {}) => {
      const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content
      const body = Uint8Array.from(requireBytes(bytes, 'content'))
      await sandbox.send({ method: 'PUT', path: fileOf(path, { ...options }), body })
    },
    readFile: ((path: string, options?: ReadFileOptions) =>
      readWhole(sandbox, path, options)) as RemoteFiles['readFile'],
    readFileStream: (path) => streamOf(sandbox, fileOf(path)),
    mkdir: async (path, { recursive } = {}) =>
      void (await sandbox.send({ method: 'PUT', path: fileOf(path, { folder: true, recursive }) })),
    listFiles: (path = '', { recursive, entriesMax } = {}) =>
      sandbox.sendJson({ method: 'GET', path: fileOf(path, { list: true, recursive, entriesMax }) }),
    stat,
    exists: async (path) => {
      try {
        await stat(path)
        return true
      } catch (error) {
        const { code } = error as LazaretError
        if (code === 'FILE_NOT_FOUND' || code === 'NOT_A_FOLDER') return false
        throw error
      }
    },
    deleteFile: async (path, { recursive } = {}) =>
      void (await sandbox.send({ method: 'DELETE', path: fileOf(path, { recursive }) })),
    renameFile: (from, to) => move('/rename', from, to),
    moveFile: (from, to) => move('/move', from, to),
    uploadTar: async (source, options) =>
      sandbox.sendJson({ method: 'PUT', path: `/archive${queryOf({ ...options })}`, body: toBody(source) }),
    downloadTar: (options) => streamOf(sandbox, `/archive${queryOf({ ...options })}`),
  }
}

type Query = Readonly<Record<string, string | number | boolean | undefined>>

/** Encodes a path as one segment of the address, so that proxies do not interpret its dots and slashes. */
function fileOf(path: string, query: Query = {}): string {
  if (typeof path !== 'string' || !isWellFormed(path)) throw invalid('path must be a well-formed string.')
  return `/files/${encodeURIComponent(path === '.' || path === '..' ? `./${path}` : path)}${queryOf(query)}`
}

function isWellFormed(path: string): boolean {
  return !/[\ud800-\udfff]/u.test(path)
}

function queryOf(query: Query): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined)
  return given.length === 0
    ? ''
    : `?${given.map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`).join('&')}`
}

function invalid(detail: string): LazaretError {
  return new LazaretError('INVALID_REQUEST', { detail })
}

async function readWhole(
  sandbox: SandboxConnection,
  path: string,
  { encoding = 'utf8', bytesMax = readBytesMax, ...unknown }: ReadFileOptions = {},
): Promise<string | Uint8Array> {
  for (const name of Object.keys(unknown)) throw invalid(`unknown key ${JSON.stringify(name)}.`)
  if (!['utf8', 'base64', 'bytes'].includes(encoding))
    throw invalid('encoding must be one of utf8, base64, bytes.')
  if (!Number.isSafeInteger(bytesMax) || bytesMax < 0) throw invalid('bytesMax must be a whole number.')
  const pieces: Uint8Array[] = []
  let length = 0
  for await (const piece of streamOf(sandbox, fileOf(path))) {
    length += piece.length
    if (length > bytesMax)
      throw new LazaretError('FILE_TOO_LARGE', { detail: `It has more than ${bytesMax} bytes.` })
    pieces.push(piece)
  }
  const bytes = new Uint8Array(length)
  let at = 0
  for (const piece of pieces) {
    bytes.set(piece, at)
    at += piece.length
  }
  if (encoding === 'bytes') return bytes
  return encoding === 'base64' ? toBase64(bytes) : new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
}

/** It is read only on demand. Leaving the loop ends the reply. */
async function* streamOf(sandbox: SandboxConnection, path: string): AsyncGenerator<Uint8Array> {
  const { body } = await sandbox.send({ method: 'GET', path })
  const reader = body?.getReader()
  try {
    for (;;) {
      const { done, value } = await (reader?.read() ?? { done: true, value: undefined })
      if (done || value === undefined) return
      yield value
    }
  } catch (cause) {
    throw connectionLost(cause)
  } finally {
    await reader?.cancel().catch(() => undefined)
  }
}

function toBody(source: TarContent): Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> {
  if (isBytes(source)) return Uint8Array.from(source)
  if (source instanceof ReadableStream) return source
  if (typeof source?.[Symbol.asyncIterator] !== 'function')
    throw invalid('source must be a Uint8Array, an async iterable of them or a ReadableStream of them.')
  const pieces = source[Symbol.asyncIterator]()
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await pieces.next()
      if (done === true) controller.close()
      else controller.enqueue(value)
    },
    async cancel() {
      await pieces.return?.()
    },
  })
}
