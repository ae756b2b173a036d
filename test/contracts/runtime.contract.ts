/** The one suite that every runtime passes unchanged, driven through the public API. */
import { after, before, describe } from 'node:test'

import { createLazaret } from '../../src/index.ts'
import type { Lazaret } from '../../src/index.ts'
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

export function describeRuntime(programs: RuntimePrograms, skip: string | false): void {
  describe(`the ${programs.runtime} runtime`, { skip }, () => {
    let lazaret: Lazaret
    before(() => {
      lazaret = createLazaret()
    })
    after(() => lazaret[Symbol.asyncDispose]())
    const { language, runtime } = programs
    const run: RunProgram = (code, more) => lazaret.run({ code, language, runtime, ...more })
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
