/**
 * Recognizes errors for buffers that the engine could not allocate. The engine throws an ordinary `RangeError`, which a
 * program could also create. So the error counts only if a built-in function of the engine that creates buffers threw it.
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
/** The engine's message, which distinguishes it from other range errors. */
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

/** Checks an error when the engine writes its stack. Programs can also call this, but cannot create frame objects. */
export function createAllocationWatch(): (error: Error, frames: readonly unknown[]) => void {
  const frame = firstFrame()
  // The realm of a snapshot has no stacks. No program runs there.
  if (frame === undefined) return () => undefined
  const lineOf = uncurryThis(frame.getLineNumber)
  const functionOf = uncurryThis(frame.getFunctionName)
  const typeOf = uncurryThis(frame.getTypeName)
  const isConstructor = uncurryThis(frame.isConstructor)
  return (error, frames) => {
    try {
      const top = frames[0] as Frame
      // Functions written in JavaScript have line numbers.
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

/** Works only after the error's stack has been read. */
export const isRefusedAllocation = (thrown: unknown): boolean =>
  typeof thrown === 'object' && thrown !== null && refusedHas(refused, thrown)

/** For a copied error: whether a failed allocation has caused an error with this message. */
export const wasRefusedAllocation = (text: string): boolean => hasRefused && text === message

/** Must be called before `prepareStackTrace` is locked. */
function firstFrame(): Frame | undefined {
  const own = NativeError as { prepareStackTrace?: unknown }
  own.prepareStackTrace = (_error: Error, frames: readonly object[]) => getPrototypeOf(frames[0])
  const frame = new NativeError().stack as unknown as Frame | undefined
  delete own.prepareStackTrace
  return frame
}
