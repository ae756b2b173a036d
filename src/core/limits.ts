/** Every bound of a run. Times in milliseconds, sizes in bytes. */
export interface Limits {
  /** Real time from the start of the guest process until the run is ended. Default 30 000. */
  readonly wallMs: number
  /** Processor time of everything the guest starts, together. Default none (`null`). */
  readonly cpuMs: number | null
  /** Memory of everything the guest starts, together, including its files in /tmp and /workspace. Default 512 MiB. */
  readonly memoryBytes: number
  /** Processes and threads at one time. Default 64. */
  readonly processesMax: number
  /** Open descriptors of one process. Default 256. */
  readonly openFilesMax: number
  /** Bytes of files in /workspace, and again in /tmp. In a run at most half the memory limit. Default 256 MiB. */
  readonly diskBytes: number
  /** Bytes of stdout and stderr together. Default 10 MiB. */
  readonly outputBytes: number
  /** Bytes of `code`. Default 1 MiB. */
  readonly codeBytes: number
  /** Bytes of `input`, `stdin` and `files` together, and again of what one host function returns. Default 16 MiB. */
  readonly inputBytes: number
  /**
   * Bytes of the value, again of the displays, again of the collected files, and again of the arguments of one call
   * of a host function. Default 16 MiB.
   */
  readonly resultBytes: number
  /** Calls of host functions in the whole run. Default 10 000. */
  readonly functionCallsMax: number
  /** How long one call of a host function may take. Default none (`null`). */
  readonly functionMs: number | null
  /**
   * Processor time of the host's event loop for the run: reading its messages, decoding its values, answering its
   * calls. Default 5 000.
   */
  readonly hostMs: number
}

export type LimitName = keyof Limits

const MiB = 1024 * 1024
const TiB = 1024 * 1024 * MiB

/** The longest timer of the platform: 24.8 days. */
export const timerMsMax = 2 ** 31 - 1

interface LimitRange<Value> {
  /** The default. `null` means no bound; a request may ask for that only if it is the default. */
  readonly usual: Value
  readonly least: number
  readonly most: number
}

/** The range of each limit. jail/limits/limit-rows.ts says what enforces it. */
export const limitRanges: { readonly [Name in LimitName]: LimitRange<Limits[Name]> } = {
  wallMs: { usual: 30_000, least: 1, most: timerMsMax },
  cpuMs: { usual: null, least: 1, most: timerMsMax },
  memoryBytes: { usual: 512 * MiB, least: 16 * MiB, most: 16 * TiB },
  processesMax: { usual: 64, least: 1, most: 1_000_000 },
  openFilesMax: { usual: 256, least: 16, most: 1_000_000 },
  diskBytes: { usual: 256 * MiB, least: 64 * 1024, most: 16 * TiB },
  // The engine's strings are limited to half a GiB.
  outputBytes: { usual: 10 * MiB, least: 0, most: 256 * MiB },
  codeBytes: { usual: 1 * MiB, least: 1, most: 64 * MiB },
  inputBytes: { usual: 16 * MiB, least: 0, most: 256 * MiB },
  resultBytes: { usual: 16 * MiB, least: 64, most: 256 * MiB },
  functionCallsMax: { usual: 10_000, least: 1, most: 1_000_000_000 },
  functionMs: { usual: null, least: 1, most: timerMsMax },
  hostMs: { usual: 5000, least: 1, most: timerMsMax },
}

export const limitNames = Object.keys(limitRanges) as LimitName[]

/** A value for each limit. */
export function perLimit<Value>(answer: (name: LimitName) => Value): Record<LimitName, Value> {
  const answers: Partial<Record<LimitName, Value>> = {}
  for (const name of limitNames) answers[name] = answer(name)
  return answers as Record<LimitName, Value>
}

export const defaultLimits = perLimit((name) => limitRanges[name].usual) as unknown as Limits

/** A limit that was lowered. */
export interface Clamp {
  readonly limit: LimitName
  /** The requested value, or the default. `null` means no bound. */
  readonly wanted: number | null
  readonly held: number | null
  /** Whether the request or a default set it. */
  readonly of: 'request' | 'default'
  /**
   * What lowered it. `ceiling`: the operator's `ceilings`, or the memory that may be promised to all work together.
   * `memory`: `memoryBytes`, of which files may take only a part. `machine`: this process's hard limit on open files.
   */
  readonly by: 'ceiling' | 'memory' | 'machine'
}

/** The mechanism that enforces a limit in a run, as its receipt names it. */
export type LimitMechanism =
  | 'cgroup'
  | 'rlimit'
  | 'watchdog'
  | 'tmpfs'
  | 'cell'
  | 'isolate'
  | 'wasm'
  | 'host'
  | 'none'

export type LimitMechanisms = Readonly<Record<LimitName, LimitMechanism>>
