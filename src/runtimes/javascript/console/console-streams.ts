/**
 * Writes console text. Writing to the descriptor is fastest. But in Node the console writes to `process.stdout` and
 * `process.stderr`: its text follows what these have buffered, and programs that replace their `write` get it. Creating
 * such a stream takes a millisecond, so it is created only if the guest uses it. In Bun the console and the streams are
 * independent, as they are here.
 *
 * The streams, too, write everything before `write` returns: what an engine keeps for later would be lost when the program
 * exits or throws.
 */
import {
  bytesLength,
  defineProperty,
  getOwnPropertyDescriptor,
  stringIncludes,
  utf8,
} from '../../../core/primordials.ts'
import { writeAll } from './output.ts'

type Write = (text: string) => void
type StreamName = 'stdout' | 'stderr'

/** The handle of a stream that writes to a pipe. Streams that write to files have none. */
interface PipeStream {
  readonly _handle?: { readonly setBlocking?: (isBlocking: boolean) => unknown }
}

/** The parts of Bun that are used here. Bun's types are not a dependency of Lazaret. */
interface BunFiles {
  file: (target: unknown, ...rest: unknown[]) => { readonly writer: (...rest: unknown[]) => BunSink }
}

interface BunSink {
  readonly write: (data: unknown) => unknown
}

const descriptors = { stdout: 1, stderr: 2 }
const isBun = process.versions['bun'] !== undefined
const { apply } = Reflect
const { isView } = ArrayBuffer
const NativeRangeError = RangeError
const NativeArrayBuffer = ArrayBuffer
const Bytes = Uint8Array
const ignore = (): void => {}
if (isBun) makeBunStreamsBlock()

export function createWrite(name: StreamName): Write {
  const descriptor = descriptors[name]
  const getStream = isBun ? undefined : watchStream(name)
  return (text) => {
    const stream = getStream?.()
    if (stream === undefined) writeAll(descriptor, utf8(text))
    else writeTo(stream, text)
  }
}

/** Returns the stream if the guest has replaced its `write`, or if it holds buffered text. */
function watchStream(name: StreamName): (() => NodeJS.WriteStream | undefined) | undefined {
  const property = getOwnPropertyDescriptor(process, name)
  const make = property?.get as (() => NodeJS.WriteStream) | undefined
  if (make === undefined) return undefined
  let stream: NodeJS.WriteStream | undefined
  let write: unknown
  defineProperty(process, name, {
    __proto__: null,
    ...property,
    get() {
      if (stream === undefined) {
        stream = apply(make, process, [])
        ;({ write } = stream)
        makeNodeStreamBlock(stream as PipeStream)
      }
      return stream
    },
  } as PropertyDescriptor)
  return () =>
    stream !== undefined && (stream.write !== write || stream.writableLength > 0) ? stream : undefined
}

/** As in Node's console, errors of the stream do not reach the code that prints. */
function writeTo(stream: NodeJS.WriteStream, text: string): void {
  try {
    stream.write(text, ignore)
  } catch (thrown) {
    // Except a stack overflow: a replaced `write` that prints calls itself without end.
    if (thrown instanceof NativeRangeError && stringIncludes(thrown.message, 'call stack')) throw thrown
  }
}

/** Node has made the pipe non-blocking for its stream. */
function makeNodeStreamBlock({ _handle: handle }: PipeStream): void {
  handle?.setBlocking?.(true)
}

/**
 * Bun creates `process.stdout` when it is first read, or even redefined, and asks `Bun.file(1)` for what writes its bytes.
 */
function makeBunStreamsBlock(): void {
  const bun = (globalThis as unknown as { readonly Bun: BunFiles }).Bun
  const { file: openFile } = bun
  bun.file = function file(target, ...rest) {
    const opened = apply(openFile, bun, [target, ...rest])
    if (target !== descriptors.stdout && target !== descriptors.stderr) return opened
    const { writer: createSink } = opened
    const writer = (...options: unknown[]) => blockingSink(apply(createSink, opened, options), target)
    return defineProperty(opened, 'writer', { __proto__: null, value: writer } as PropertyDescriptor)
  }
}

function blockingSink(sink: BunSink, descriptor: number): BunSink {
  const { write: reject } = sink
  const write = (data: unknown): unknown => {
    const bytes = bytesOf(data)
    if (bytes === undefined) return apply(reject, sink, [data])
    writeAll(descriptor, bytes)
    return bytesLength(bytes)
  }
  return defineProperty(sink, 'write', { __proto__: null, value: write } as PropertyDescriptor)
}

function bytesOf(data: unknown): Uint8Array | undefined {
  if (typeof data === 'string') return utf8(data)
  if (isView(data)) return new Bytes(data.buffer, data.byteOffset, data.byteLength)
  return data instanceof NativeArrayBuffer ? new Bytes(data) : undefined
}
