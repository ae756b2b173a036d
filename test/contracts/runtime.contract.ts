/** The suite that every runtime must pass unchanged, through the public API. */
import { after, before, describe } from 'node:test'

import { createLazaret } from '../support/create-lazaret.ts'
import type { RunRequest } from '../../src/core/request.ts'
import type { RunResult } from '../../src/core/result.ts'
import { contractOfCancellation } from './runtime/cancellation.ts'
import { contractOfEnds } from './runtime/ends.ts'
import { contractOfInput } from './runtime/input.ts'
import { contractOfIsolation } from './runtime/isolation.ts'
import { contractOfLimits } from './runtime/limits.ts'
import { contractOfOutput } from './runtime/output.ts'
import type { RuntimePrograms } from './runtime/programs.ts'
import { contractOfReceipt } from './runtime/receipt.ts'
import { contractOfSurroundings } from './runtime/surroundings.ts'

/** Runs a program of the language under test. */
export type RunProgram = (
  code: string,
  more?: Omit<RunRequest, 'code' | 'language' | 'runtime'>,
) => Promise<RunResult>

export interface ContractParts {
  readonly programs: RuntimePrograms
  readonly run: RunProgram
}

export interface RuntimeDriver {
  readonly run: (request: RunRequest) => Promise<RunResult>
  readonly dispose: () => Promise<void>
}

/**
 * Runs with default options: the first of a kind gets a cell that is built for it, later ones may get a parked worker.
 */
function drivePlainly(): RuntimeDriver {
  const lazaret = createLazaret()
  return { run: (request) => lazaret.run(request), dispose: () => lazaret[Symbol.asyncDispose]() }
}

export function describeRuntime(
  programs: RuntimePrograms,
  skip: string | false,
  { drive = drivePlainly, how = '' }: { readonly drive?: () => RuntimeDriver; readonly how?: string } = {},
): void {
  describe(`the ${programs.runtime} runtime${how}`, { skip }, () => {
    let driver: RuntimeDriver
    before(() => {
      driver = drive()
    })
    after(() => driver.dispose())
    const { language, runtime } = programs
    const run: RunProgram = (code, more) => driver.run({ code, language, runtime, ...more })
    const parts = { programs, run }
    contractOfEnds(parts)
    contractOfOutput(parts)
    contractOfInput(parts)
    contractOfSurroundings(parts)
    contractOfLimits(parts)
    contractOfCancellation(parts)
    contractOfReceipt(parts)
    contractOfIsolation(parts)
  })
}
