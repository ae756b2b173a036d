/** Runs one request and prints what came out: the common end of `run` and `exec`. */
import type { RunRequest } from '../../core/request.ts'
import { createLazaret } from '../../engine/lazaret.ts'
import type { LazaretOptions } from '../../engine/options.ts'
import { exitCodeOf } from './exit-code.ts'
import { GuestOutput } from './guest-output.ts'
import { printJson, toResultDocument } from './print-json.ts'
import { OutputFolder } from './output-folder.ts'
import { printResult } from './print-result.ts'
import type { RunFlags } from './run-options.ts'
import { writeOutputs } from './write-outputs.ts'

export interface RunOnce {
  readonly engineOptions: LazaretOptions
  readonly request: RunRequest
  readonly flags: RunFlags
}

/** What a program of the system answers that cannot make the file it was asked for (sysexits.h). */
const cannotCreateExitCode = 73

/** Answers with the exit code; throws the signal's reason, once all is printed, if the run was cancelled. */
export async function runOnce({ engineOptions, request, flags }: RunOnce): Promise<number> {
  // Before the run: a place that cannot be written to is known before anything is spent.
  await using folder = flags.outputDir === undefined ? null : await OutputFolder.open(flags.outputDir)
  await using lazaret = createLazaret(engineOptions)
  const output = new GuestOutput()
  const isJson = flags.json === true
  const result = await lazaret.run(isJson ? request : { ...request, onOutput: output.write })
  const written = folder === null ? undefined : await writeOutputs(result, folder)
  if (isJson) printJson(toResultDocument(result))
  else printResult(result, output, { arePicturesWritten: folder !== null })
  for (const line of written?.lines ?? []) output.printLine('stderr', `lazaret: ${line}`)
  if (result.outcome.kind === 'cancelled') request.signal?.throwIfAborted()
  const exitCode = exitCodeOf(result.outcome)
  return exitCode === 0 && written?.isComplete === false ? cannotCreateExitCode : exitCode
}
