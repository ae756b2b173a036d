/** Python programs that call functions of the host. */
import assert from 'node:assert/strict'

import type { HostFunction, RunResult } from '../../../src/index.ts'
import { python } from '../../support/use-lazaret.ts'
import type { TestLazaret } from '../../support/use-lazaret.ts'

export const echo: HostFunction = (value) => value
export const later: HostFunction = (value) => new Promise((resolve) => setImmediate(resolve, value))
export const never: HostFunction = () => new Promise(() => undefined)
const functions = { echo, later, never }

export interface Caller {
  readonly run: (code: string, rest?: object) => Promise<RunResult>
  /** The value of a program that must complete. */
  readonly valueOf: (code: string, rest?: object) => Promise<unknown>
}

export function callerOf(guests: TestLazaret): Caller {
  const run = async (code: string, rest = {}) => await guests.run({ ...python, code, functions, ...rest })
  return {
    run,
    async valueOf(code, rest) {
      const { value, outcome, stderr } = await run(code, rest)
      assert.deepEqual(outcome, { kind: 'completed', exitCode: 0 }, stderr)
      return value
    },
  }
}
