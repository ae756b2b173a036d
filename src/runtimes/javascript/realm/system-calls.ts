/**
 * read(2) and write(2). Bun needs two milliseconds to load its `node:fs`, and a quarter of that to open libc.
 */
import { bytesLength, defineProperty, getOwnPropertyDescriptor } from '../../../core/primordials.ts'

/**
 * Transfers as much of `bytes` from `offset` on as it can. Returns the number of bytes, or one of the two values below.
 */
type Transfer = (descriptor: number, bytes: Uint8Array, offset: number) => number

/** The descriptor is non-blocking and not ready, or a signal interrupted the call: try again. */
export const busy = -1
export const failed = -2

interface SystemCalls {
  readonly read: Transfer
  readonly write: Transfer
}

// Taken now: guest code may patch what these modules export.
export const systemCalls = process.versions['bun'] === undefined ? throughNode() : throughLibcOrNode()

/** If Bun cannot allocate memory for compiled code, `bun:ffi` fails. */
function throughLibcOrNode(): SystemCalls {
  try {
    return throughLibc()
  } catch {
    return throughNode()
  }
}

function throughNode(): SystemCalls {
  const { readSync, writeSync } = process.getBuiltinModule('node:fs')
  return {
    read: (descriptor, bytes, offset) =>
      countOrReason(() => readSync(descriptor, bytes, offset, bytesLength(bytes) - offset, null)),
    write(descriptor, bytes, offset) {
      // Node reads `byteLength`, which guest code may have replaced on the prototype.
      defineProperty(bytes, 'byteLength', {
        __proto__: null,
        value: bytesLength(bytes),
      } as PropertyDescriptor)
      return countOrReason(() => writeSync(descriptor, bytes, offset, bytesLength(bytes) - offset))
    },
  }
}

function countOrReason(transfer: () => number): number {
  try {
    return transfer()
  } catch (thrown) {
    if (typeof thrown !== 'object' || thrown === null) return failed
    const code: unknown = getOwnPropertyDescriptor(thrown, 'code')?.value
    return code === 'EAGAIN' || code === 'EINTR' ? busy : failed
  }
}

/** The parts of `bun:ffi` that are used here. Bun's types are not a dependency of Lazaret. */
interface ForeignFunctions {
  readonly dlopen: (
    library: string,
    symbols: Record<string, { readonly args: readonly string[]; readonly returns: string }>,
  ) => { readonly symbols: Record<'read' | 'write', (...rest: number[]) => number> }
  readonly ptr: (bytes: Uint8Array, offset: number) => number
}

function throughLibc(): SystemCalls {
  const getBuiltin = process.getBuiltinModule as (name: string) => unknown
  const { dlopen, ptr } = getBuiltin('bun:ffi') as ForeignFunctions
  const signature = { args: ['i32', 'ptr', 'u64_fast'], returns: 'i64_fast' }
  const { read, write } = dlopen('libc.so.6', { read: signature, write: signature }).symbols
  let node: SystemCalls | undefined
  const through =
    (name: keyof SystemCalls, call: (...rest: number[]) => number): Transfer =>
    (descriptor, bytes, offset) => {
      const count = call(descriptor, ptr(bytes, offset), bytesLength(bytes) - offset)
      // An error, which is rare: the call is repeated through `node:fs`, which reports the reason.
      return count >= 0 ? count : (node ??= throughNode())[name](descriptor, bytes, offset)
    }
  return { read: through('read', read), write: through('write', write) }
}
