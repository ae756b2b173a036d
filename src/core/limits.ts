/** Every bound of a run. Times in milliseconds, sizes in bytes. */
export interface Limits {
  /** Real time from the start of the guest process until the run is ended. Default 30 000. */
  readonly wallMs: number
  /** Processor time of everything the guest starts, together. Default none (`null`). */
  readonly cpuMs: number | null
  /** Memory of everything the guest starts, together, its files in /tmp and /workspace included. Default 512 MiB. */
  readonly memoryBytes: number
  /** Processes and threads at one time. Default 64. */
  readonly processesMax: number
  /** Open descriptors of one process. Default 256. */
  readonly openFilesMax: number
  /** Bytes of files in /workspace, and again in /tmp. Must stay below the memory limit. Default 256 MiB. */
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
   * How long the run may keep the host's event loop busy: reading its messages, decoding its values, answering its calls.
   * Default 5 000.
   */
  readonly hostMs: number
}

export type LimitName = keyof Limits

const MiB = 1024 * 1024

export const defaultLimits: Limits = {
  wallMs: 30_000,
  cpuMs: null,
  memoryBytes: 512 * MiB,
  processesMax: 64,
  openFilesMax: 256,
  diskBytes: 256 * MiB,
  outputBytes: 10 * MiB,
  codeBytes: 1 * MiB,
  inputBytes: 16 * MiB,
  resultBytes: 16 * MiB,
  functionCallsMax: 10_000,
  functionMs: null,
  hostMs: 5000,
}

/** What really enforces a limit in a run, as its receipt names it. */
export type LimitMechanism = 'cgroup' | 'rlimit' | 'watchdog' | 'tmpfs' | 'cell' | 'wasm' | 'host' | 'none'
