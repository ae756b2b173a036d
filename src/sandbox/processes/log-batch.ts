/** What a follower of a log gets in one turn: the next bytes of both streams, as chunks with their text. */
import type { OutputChunk } from '../../core/request.ts'
import type { LogStream, Piece } from './log-stream.ts'

export type StreamName = OutputChunk['stream']
export const streams = ['stdout', 'stderr'] as const

/** Where a follower is in a stream, and the bytes before that are the start of a character. */
interface StreamPlace {
  readonly at: number
  readonly begun: Buffer
}

export type Place = Readonly<Record<StreamName, StreamPlace>>

export interface Batch {
  readonly chunks: readonly OutputChunk[]
  readonly next: Place
}

export const batchBytesMax = 16 * 1024
/** The overhead of a piece besides its bytes. */
const pieceBytes = 64
/** So many chunks are in the order of their arrival. Later ones are joined to the last of their stream. */
const orderedMax = 8

const nothing = Buffer.alloc(0)
export const firstPlace: Place = { stdout: { at: 0, begun: nothing }, stderr: { at: 0, begun: nothing } }

interface Found {
  readonly stream: StreamName
  readonly atMs: number
  readonly bytes: Buffer[]
}

/** Undefined if there is nothing yet. */
export function makeBatch(kept: Readonly<Record<StreamName, LogStream>>, from: Place): Batch | undefined {
  const found: Found[] = []
  const next: Record<StreamName, StreamPlace> = { ...from }
  let left = batchBytesMax
  for (const { stream, piece } of inOrder(kept, from)) {
    if (left <= 0) break
    const bytes = piece.bytes.subarray(0, left)
    left -= bytes.length + pieceBytes
    const start = piece.end - piece.bytes.length
    const { at, begun } = next[stream]
    // What was between has been dropped.
    next[stream] = { at: start + bytes.length, begun: start === at ? begun : nothing }
    const last = found.length > orderedMax ? found.findLast((one) => one.stream === stream) : found.at(-1)
    if (last?.stream === stream) last.bytes.push(bytes)
    else found.push({ stream, atMs: piece.atMs, bytes: [bytes] })
  }
  if (found.length === 0) return undefined
  const chunks = found.map(({ stream, atMs, bytes: parts }) => {
    const bytes = Buffer.concat(parts)
    const all = Buffer.concat([next[stream].begun, bytes])
    const whole = all.length - unfinishedBytes(all)
    next[stream] = { ...next[stream], begun: Buffer.from(all.subarray(whole)) }
    return { stream, atMs, bytes, text: all.toString('utf8', 0, whole) }
  })
  return { chunks, next }
}

/** The pieces of both streams, by arrival. */
function* inOrder(
  kept: Readonly<Record<StreamName, LogStream>>,
  from: Place,
): Generator<{ readonly stream: StreamName; readonly piece: Piece }> {
  const pieces = { stdout: kept.stdout.pieces(from.stdout.at), stderr: kept.stderr.pieces(from.stderr.at) }
  const read = (stream: StreamName): Piece | undefined => pieces[stream].next().value ?? undefined
  const heads = { stdout: read('stdout'), stderr: read('stderr') }
  const numberOf = (stream: StreamName) => heads[stream]?.number ?? Number.POSITIVE_INFINITY
  for (;;) {
    const stream = numberOf('stderr') < numberOf('stdout') ? 'stderr' : 'stdout'
    const piece = heads[stream]
    if (piece === undefined) return
    yield { stream, piece }
    heads[stream] = read(stream)
  }
}

/** How many bytes at the end are the start of a UTF-8 character that is longer. */
function unfinishedBytes(bytes: Buffer): number {
  for (let count = 1; count < 4 && count <= bytes.length; count++) {
    const byte = bytes[bytes.length - count] ?? 0
    if (byte >> 6 === 0b10) continue
    const length = byte >= 0xf8 || byte < 0xc0 ? 1 : byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2
    return length > count ? count : 0
  }
  return 0
}
