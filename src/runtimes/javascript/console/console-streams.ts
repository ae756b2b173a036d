/**
 * Writes console text. Writing to the descriptor is fastest. But in Node the console writes to `process.stdout` and
 * `process.stderr`: its text follows what these have buffered, and programs that replace their `write` get it. Creating
 * such a stream takes a millisecond, so it is created only if the guest uses it. In Bun the console and the streams are
 * independent, as they are here.
 */
import { defineProperty, getOwnPropertyDescriptor, stringIncludes, utf8 } from '../../../core/primordials.ts'
import { writeAll } from './output.ts'

type Write = (text: string) => void
type StreamName = 'stdout' | 'stderr'

const descriptors = { stdout: 1, stderr: 2 }
const isBun = process.versions['bun'] !== undefined
const { apply } = Reflect
const NativeRangeError = RangeError
const ignore = (): void => {}

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
