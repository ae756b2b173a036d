import type { RunRequest, RunResult } from '../src/index.ts'

/** One program, how it is to be run, and how that should end. */
export interface Example {
  /** Below this folder. */
  readonly path: string
  readonly request: Omit<RunRequest, 'code'>
  /** What should happen, in words. */
  readonly expected: string
  readonly isExpected: (result: RunResult) => boolean
  /** Started only where the limit on processes is really held. */
  readonly needsProcessLimit?: true
}

/** What the host puts at stake while the examples run. */
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
