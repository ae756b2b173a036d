/** An entry of this folder's tables: one program for one feature, from the documentation of the language or the API. */
import type { LogEntry } from '../../../src/core/output.ts'
import type { RunRequest } from '../../../src/core/request.ts'

export type EngineName = 'bun' | 'node'

/** The compared parts of a run's result. Absent parts must be empty, and the exit code 0. */
export interface Expected {
  readonly value?: unknown
  readonly stdout?: string | RegExp
  readonly stderr?: string | RegExp
  readonly logs?: readonly (readonly [level: LogEntry['level'], text: string])[]
  readonly outcome?: 'completed' | 'failed' | 'syntax-error'
  readonly exitCode?: number
  readonly error?: {
    readonly name: string
    readonly message?: string | RegExp
    readonly line?: number
    readonly column?: number
    readonly stack?: RegExp
  }
}

/** How an engine differs, and why. */
export interface Difference {
  readonly reason: string
  readonly expected: Expected
}

export interface ConformanceProgram extends Pick<
  RunRequest,
  'code' | 'files' | 'stdin' | 'args' | 'env' | 'input'
> {
  /** Completes the sentence "It runs …". */
  readonly title: string
  /** The chapter that it was written from. */
  readonly from: string
  readonly language?: 'typescript'
  readonly expected: Expected
  readonly differs?: Partial<Record<EngineName, Difference>>
}

/** For programs that have only a value, which are most. */
export const valueOf = (
  from: string,
  rows: readonly (readonly [title: string, code: string, value: unknown])[],
): ConformanceProgram[] => rows.map(([title, code, value]) => ({ title, from, code, expected: { value } }))

export const inTypeScript = (programs: readonly ConformanceProgram[]): ConformanceProgram[] =>
  programs.map((program) => ({ ...program, language: 'typescript' }))
