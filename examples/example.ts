import type { RunRequest, RunResult } from '../src/index.ts'

/** One program, how to run it, and how it should end. */
export interface Example {
  /** Relative to this folder. */
  readonly path: string
  readonly request: Omit<RunRequest, 'code'>
  /** What should happen, in words. */
  readonly expected: string
  readonly isExpected: (result: RunResult) => boolean
  /** Started only if the limit on processes is really enforced. */
  readonly needsProcessLimit?: true
}

/** What the examples try to reach on the host. */
export interface Bait {
  /** A service of the host on loopback. */
  readonly port: number
  /** How many connections it got. */
  readonly connections: () => number
  /** A file of the host. */
  readonly secretFile: string
  /** A variable in the environment of the host. */
  readonly secretName: string
}
