/** The library in native/zygote, which Bun calls through `bun:ffi`. */
import { readVariables } from './take-identity.ts'
import type { ForkLibrary } from './zygote.ts'

export interface BunLibrary extends ForkLibrary {
  /**
   * How many bytes the random stream that seeds new realms still has before it is refilled from the kernel. Negative if the
   * stream was not found.
   */
  readonly seedBytesLeft: () => number
  /** Empties the stream, so that its next byte comes from the kernel. */
  readonly useUpSeeds: () => void
}

/** An object with a copy of a C string. */
interface CString {
  readonly toString: () => string
}

interface Symbols {
  readonly engine_serve: (socketDescriptor: number) => CString
  readonly engine_has_new_variables: () => boolean
  readonly engine_process_id: () => number
  readonly engine_variable: (index: number) => CString | null
  readonly engine_await_request: () => void
  readonly engine_seed_bytes_left: () => number
  readonly engine_use_up_seeds: () => void
  readonly engine_open_sample_channel: () => number
  readonly engine_close_sample_channel: (otherEnd: number) => boolean
}

/** The parts of `bun:ffi` that are used here. Bun's types are not a dependency of Lazaret. */
interface ForeignFunctions {
  readonly dlopen: (
    library: string,
    symbols: Record<keyof Symbols, { readonly args: readonly string[]; readonly returns: string }>,
  ) => { readonly symbols: Symbols }
}

export function openBunLibrary(path: string): BunLibrary {
  const getBuiltin = process.getBuiltinModule as (name: string) => unknown
  const { dlopen } = getBuiltin('bun:ffi') as ForeignFunctions
  const { symbols } = dlopen(path, {
    engine_serve: { args: ['i32'], returns: 'cstring' },
    engine_has_new_variables: { args: [], returns: 'bool' },
    engine_process_id: { args: [], returns: 'i32' },
    engine_variable: { args: ['i32'], returns: 'cstring' },
    engine_await_request: { args: [], returns: 'void' },
    engine_seed_bytes_left: { args: [], returns: 'i32' },
    engine_use_up_seeds: { args: [], returns: 'void' },
    engine_open_sample_channel: { args: [], returns: 'i32' },
    engine_close_sample_channel: { args: ['i32'], returns: 'bool' },
  })
  return {
    serve: (socketDescriptor) => symbols.engine_serve(socketDescriptor).toString(),
    environment() {
      if (!symbols.engine_has_new_variables()) return undefined
      const entries: string[] = []
      for (let index = 0; ; index++) {
        const entry = symbols.engine_variable(index)
        if (entry === null) return readVariables(entries)
        entries.push(entry.toString())
      }
    },
    awaitRequest: symbols.engine_await_request,
    processId: symbols.engine_process_id,
    seedBytesLeft: symbols.engine_seed_bytes_left,
    useUpSeeds: symbols.engine_use_up_seeds,
    openSampleChannel() {
      const otherEnd = symbols.engine_open_sample_channel()
      if (otherEnd < 0) throw new Error('No channel can be opened for a sample run.')
      return otherEnd
    },
    closeSampleChannel(otherEnd) {
      if (!symbols.engine_close_sample_channel(otherEnd))
        throw new Error('The channel of a sample run cannot be closed.')
    },
  }
}
