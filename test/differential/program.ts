/** A program of the comparison, and the ways to run it. */
import type { CellRuntimeName, RunRequest } from '../../src/core/request.ts'

export const engines = ['python', 'bun', 'node', 'shell'] as const satisfies readonly CellRuntimeName[]
export type Engine = (typeof engines)[number]

export const ways = ['parked', 'forked', 'http', 'context', 'mcp', 'plain'] as const
/** How a program runs besides its cold start: a warm run, another entry point, or its engine without Lazaret. */
export type Way = (typeof ways)[number]

export interface Program {
  /** Where it is from and what it tries. Unique within its engine. */
  readonly name: string
  readonly engine: Engine
  readonly request: RunRequest
  /** Whether it is harmless on the host and uses nothing that only Lazaret offers, such as `input` or `display`. */
  readonly isPlain: boolean
}
