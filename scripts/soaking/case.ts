/** One run of a soak: the request, and its one right answer. */
import { deepEqual, equal } from 'node:assert/strict'

import type { Language, Limits, RunRequest, RunResult, RuntimeName } from '../../src/index.ts'

/** The runtime of the code. TypeScript programs are the JavaScript ones, unless they need TypeScript syntax. */
export interface Guest {
  readonly name: string
  readonly runtime: RuntimeName
  readonly language: Language
  readonly dialect: Dialect
}
export type Dialect = 'shell' | 'python' | 'javascript'

export const shell: Guest = { name: 'shell', runtime: 'shell', language: 'shell', dialect: 'shell' }
export const python: Guest = { name: 'python', runtime: 'python', language: 'python', dialect: 'python' }
export const bun: Guest = { name: 'bun', runtime: 'bun', language: 'javascript', dialect: 'javascript' }
export const node: Guest = { name: 'node', runtime: 'node', language: 'javascript', dialect: 'javascript' }
export const typescript: readonly Guest[] = [
  { ...bun, name: 'bun typescript', language: 'typescript' },
  { ...node, name: 'node typescript', language: 'typescript' },
]
export const everyGuest: readonly Guest[] = [shell, python, bun, node, ...typescript]
/** The guests that have values and host functions. */
export const harnessed: readonly Guest[] = everyGuest.filter(({ dialect }) => dialect !== 'shell')

/** What is different in every run. */
export interface Ticket {
  readonly index: number
  /** Unique: a run that answers with the token of another was given its state. */
  readonly token: string
  readonly random: () => number
  readonly machine: SoakMachine
}

/** What the right answers depend on. */
export interface SoakMachine {
  /** Whether a refused or ended fork leaves evidence. A limit on the user id alone leaves none. */
  readonly forksAreCounted: boolean
  /** Whether the kernel refuses forks above the limit. A watchdog ends the program instead. */
  readonly forksAreRefused: boolean
  /** The port of a server on the host's loopback that sends `greeting` to every client. */
  readonly port: number
}

/** Reads the facts from the receipt of any run. */
export function describeMachine({ receipt }: RunResult, { port }: { readonly port: number }): SoakMachine {
  const { by } = receipt.limits.processesMax
  return { port, forksAreCounted: by !== 'rlimit', forksAreRefused: by !== 'watchdog' }
}

export const greeting = 'here is the host'

export interface Draft {
  readonly request: Omit<RunRequest, 'runtime' | 'language'>
  /** Throws when the answer is not the right one. */
  readonly check: (result: RunResult) => void
}

export interface Kind {
  readonly name: string
  /** How often each of its guests occurs in a deck; 1 is rare. */
  readonly copies: number
  readonly guests: readonly Guest[]
  readonly draft: (guest: Guest, ticket: Ticket) => Draft
}

export interface SoakCase {
  readonly kind: string
  readonly name: string
  readonly request: RunRequest
  readonly check: (result: RunResult) => void
}

const MiB = 1024 * 1024
const completed = { kind: 'completed', exitCode: 0 } as const

/** Generous, and different from one run to the next: a parked worker does not know them. */
export function generousLimits({ index, random }: Ticket): Partial<Limits> {
  return {
    wallMs: 60_000 + (index % 1000),
    memoryBytes: (256 + 64 * pick(random, 5)) * MiB,
    processesMax: 40 + pick(random, 30),
    openFilesMax: 100 + pick(random, 100),
    diskBytes: (8 + pick(random, 32)) * MiB,
  }
}

/** A whole number below `end`. */
export function pick(random: () => number, end: number): number {
  return Math.floor(random() * end)
}

export function completes(result: RunResult, { stdout = '' }: { stdout?: string } = {}): void {
  deepEqual(result.outcome, completed)
  equal(result.stdout, stdout)
}
