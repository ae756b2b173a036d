/** Runs one request and prints what came out: the common end of `run` and `exec`. */
import type { RunRequest } from '../../core/request.ts'
import type { RunResult } from '../../core/result.ts'
import { createLazaret, type Lazaret } from '../../engine/lazaret.ts'
import type { LazaretOptions } from '../../engine/options.ts'
import { exitCodeOf } from './exit-code.ts'
import { GuestOutput } from './guest-output.ts'
import { printJson, toResultDocument } from './print-json.ts'
import { printResult } from './print-result.ts'

export interface RunOnce {
  readonly engineOptions: LazaretOptions
  readonly request: RunRequest
  readonly json: boolean
}

/** Answers with the exit code; throws the signal's reason, once all is printed, if the run was cancelled. */
export async function runOnce({ engineOptions, request, json }: RunOnce): Promise<number> {
  await using lazaret = createLazaret(engineOptions)
  const { outcome } = json ? await runToJson(lazaret, request) : await runToTerminal(lazaret, request)
  if (outcome.kind === 'cancelled') request.signal?.throwIfAborted()
  return exitCodeOf(outcome)
}

async function runToJson(lazaret: Lazaret, request: RunRequest): Promise<RunResult> {
  const result = await lazaret.run(request)
  printJson(toResultDocument(result))
  return result
}

async function runToTerminal(lazaret: Lazaret, request: RunRequest): Promise<RunResult> {
  const output = new GuestOutput()
  const result = await lazaret.run({ ...request, onOutput: output.write })
  printResult(result, output)
  return result
}
