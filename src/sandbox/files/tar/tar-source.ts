/** The bytes of an archive as they arrive from the caller, unpacked if they are gzip. */
import { Readable, pipeline } from 'node:stream'
import { createGunzip } from 'node:zlib'

import { LazaretError } from '../../../core/errors/errors.ts'
import { plainBytes, readInput } from '../../../policy/hostile-input.ts'

export type TarSource = Uint8Array | AsyncIterable<Uint8Array> | ReadableStream<Uint8Array>

export function parseTarSource(source: unknown): AsyncIterable<Uint8Array> {
  const bytes = plainBytes(source)
  if (bytes !== undefined) return readOnce(bytes)
  const isIterable = readInput(
    () => typeof source === 'object' && source !== null && Symbol.asyncIterator in source,
  )
  if (isIterable) return checkChunks(source as AsyncIterable<unknown>)
  throw new LazaretError('INVALID_REQUEST', {
    detail: 'source must be a Uint8Array, an async iterable of them or a ReadableStream of them.',
  })
}

/** Small pieces, because the decoder parses all headers of a piece at once. */
const pieceBytesMax = 64 * 1024

async function* readOnce(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield* split(bytes)
}

function* split(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += pieceBytesMax) yield bytes.subarray(at, at + pieceBytesMax)
}

/** Errors of the source itself are passed to its caller unchanged. */
async function* checkChunks(source: AsyncIterable<unknown>): AsyncGenerator<Uint8Array> {
  const pieces = readInput(() => begin(source))
  for await (const given of { [Symbol.asyncIterator]: () => pieces }) {
    const chunk = plainBytes(given)
    if (chunk === undefined)
      throw new LazaretError('INVALID_REQUEST', {
        detail: 'source yielded something that is not a Uint8Array.',
      })
    yield* split(chunk)
  }
}

/** Throws for a locked stream. */
function begin(source: AsyncIterable<unknown>): AsyncIterator<unknown> {
  const pieces: Partial<AsyncIterator<unknown>> | null | undefined = source[Symbol.asyncIterator]()
  if (typeof pieces?.next === 'function') return pieces as AsyncIterator<unknown>
  throw new LazaretError('INVALID_REQUEST', { detail: 'source gave no iterator.' })
}

/** The gzip signature (RFC 1952), with which no tar begins. */
const gzipMagic = Buffer.from([0x1f, 0x8b])

/** The bytes unchanged, or unpacked if they begin as gzip. */
export async function* gunzipTar(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const chunks = source[Symbol.asyncIterator]()
  try {
    let head = Buffer.alloc(0)
    while (head.length < gzipMagic.length) {
      const { done, value } = await chunks.next()
      if (done === true) break
      head = Buffer.concat([head, value])
    }
    const whole = chain(head, chunks)
    yield* head.subarray(0, gzipMagic.length).equals(gzipMagic) ? gunzip(whole) : whole
  } finally {
    await chunks.return?.()
  }
}

async function* chain(head: Uint8Array, rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield head
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value
}

/** Reads the source only as fast as its own output is read. */
async function* gunzip(source: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  const expanded = createGunzip()
  pipeline(Readable.from(source, { objectMode: false }), expanded, () => undefined)
  try {
    yield* expanded as AsyncIterable<Uint8Array>
  } catch (cause) {
    const isGzip = cause instanceof Error && 'code' in cause && String(cause.code).startsWith('Z_')
    if (!isGzip) throw cause
    throw new LazaretError('ARCHIVE_REFUSED', { detail: `Its gzip is broken: ${cause.message}.`, cause })
  }
}
