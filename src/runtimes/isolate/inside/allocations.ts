/**
 * Buffers that the engine could not allocate. It throws an ordinary `RangeError`, which a program can create as well:
 * what counts is the place that threw it, a built-in of the engine's that makes buffers.
 */
import { getOwnPropertyDescriptor, getPrototypeOf, uncurryThis } from '../../../core/primordials.ts'

interface Frame {
  getLineNumber(): number | null
  getFunctionName(): string | null
  getTypeName(): string | null
  isConstructor(): boolean
}

const RefusedSet = WeakSet<object>
const refusedHas = uncurryThis(RefusedSet.prototype.has)
const refusedAdd = uncurryThis(RefusedSet.prototype.add)
const refused = new RefusedSet()
const NativeError = Error
/** The engine's own words for it, among its other range errors. */
const message = 'Array buffer allocation failed'
let hasRefused = false

const makers: Readonly<Partial<Record<string, true>>> = {
  __proto__: null,
  ArrayBuffer: true,
  BigInt64Array: true,
  BigUint64Array: true,
  Float16Array: true,
  Float32Array: true,
  Float64Array: true,
  Int16Array: true,
  Int32Array: true,
  Int8Array: true,
  Uint16Array: true,
  Uint32Array: true,
  Uint8Array: true,
  Uint8ClampedArray: true,
} as unknown as Readonly<Partial<Record<string, true>>>

/** Looks at an error whose stack the engine is about to write. Programs can call this too, but have no frames to give. */
export function createAllocationWatch(): (error: Error, frames: readonly unknown[]) => void {
  const frame = firstFrame()
  // Realms that snapshots are taken in have no stacks; no program runs there.
  if (frame === undefined) return () => undefined
  const lineOf = uncurryThis(frame.getLineNumber)
  const functionOf = uncurryThis(frame.getFunctionName)
  const typeOf = uncurryThis(frame.getTypeName)
  const isConstructor = uncurryThis(frame.isConstructor)
  return (error, frames) => {
    try {
      const top = frames[0] as Frame
      // What is written in JavaScript has lines.
      if (lineOf(top) !== null) return
      const maker = isConstructor(top) ? functionOf(top) : typeOf(top)
      if (makers[`${maker}`] !== true) return
      if (getOwnPropertyDescriptor(error, 'message')?.value !== message) return
      refusedAdd(refused, error)
      hasRefused = true
    } catch {
      // Not an engine frame.
    }
  }
}

/** Its stack has to have been read. */
export const isRefusedAllocation = (thrown: unknown): boolean =>
  typeof thrown === 'object' && thrown !== null && refusedHas(refused, thrown)

/** For an error that was copied on its way: whether a failed allocation caused an error with this text. */
export const wasRefusedAllocation = (text: string): boolean => hasRefused && text === message

/** Called before the function that writes stacks is locked. */
function firstFrame(): Frame | undefined {
  const own = NativeError as { prepareStackTrace?: unknown }
  own.prepareStackTrace = (_error: Error, frames: readonly object[]) => getPrototypeOf(frames[0])
  const frame = new NativeError().stack as unknown as Frame | undefined
  delete own.prepareStackTrace
  return frame
}
