/** What the tables of this folder hold: one feature a program, from the documentation of the language or the API. */
import type { LogEntry } from '../../../src/core/output.ts'
import type { RunRequest } from '../../../src/core/request.ts'

export type EngineName = 'bun' | 'node'

/** What of a run's result is compared. What is not said must be empty, and the exit code 0. */
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

/** Where an engine behaves in its own way, and why that is so. */
export interface Difference {
  readonly reason: string
  readonly expected: Expected
}

export interface ConformanceProgram extends Pick<
  RunRequest,
  'code' | 'files' | 'stdin' | 'args' | 'env' | 'input'
> {
  /** Ends the sentence "It runs …". */
  readonly title: string
  /** The chapter it was written from. */
  readonly from: string
  readonly language?: 'typescript'
  readonly expected: Expected
  readonly differs?: Partial<Record<EngineName, Difference>>
}

/** Most programs have nothing but a value. */
export const valueOf = (
  from: string,
  rows: readonly (readonly [title: string, code: string, value: unknown])[],
): ConformanceProgram[] => rows.map(([title, code, value]) => ({ title, from, code, expected: { value } }))

export const inTypeScript = (programs: readonly ConformanceProgram[]): ConformanceProgram[] =>
  programs.map((program) => ({ ...program, language: 'typescript' }))
