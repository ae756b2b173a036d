/** Shared by the tests of host functions: the same program in both languages, run with functions. */
import assert from 'node:assert/strict'

import type { HostFunction, RunResult } from '../../../src/index.ts'
import type { TestLazaret } from '../../support/use-lazaret.ts'
import { bun, node, python } from '../../support/use-lazaret.ts'

export const engines = { bun, node }
export const runtimes = { ...engines, python }
type Guest = (typeof runtimes)[keyof typeof runtimes]

export interface Programs {
  readonly javascript: string
  readonly python: string
}

export const codeFor = (guest: Guest, programs: Programs): string => programs[guest.language]

export function assertCompleted({ outcome, stderr }: RunResult): void {
  assert.deepEqual(outcome, { kind: 'completed', exitCode: 0 }, stderr)
}

export const echo: HostFunction = (value) => value

/** Runs a guest's version of a program with functions. */
export const caller =
  (run: TestLazaret['run'], guest: Guest) =>
  async (programs: Programs, functions: Record<string, HostFunction>, rest = {}): Promise<RunResult> =>
    await run({ ...guest, code: codeFor(guest, programs), functions, ...rest })
