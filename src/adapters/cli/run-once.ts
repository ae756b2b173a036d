/** Runs one request and prints what came out: the common end of `run` and `exec`. */
import type { RunRequest } from '../../core/request.ts'
import type { RunResult } from '../../core/result.ts'
import { createLazaret } from '../../engine/lazaret.ts'
import type { LazaretOptions } from '../../engine/options.ts'
import type { CommandContext } from './command-context.ts'
import { exitCodeOf } from './exit-code.ts'
import { GuestOutput } from './guest-output.ts'
import { printJson, toResultDocument } from './print-json.ts'
import { OutputFolder } from './output-folder.ts'
import { printResult } from './print-result.ts'
import { toSingleLine } from './terminal-text.ts'
import type { RunFlags } from './run-options.ts'
import { writeOutputs } from './write-outputs.ts'

export interface RunOnce {
  readonly engineOptions: LazaretOptions
  readonly request: RunRequest
  readonly flags: RunFlags
  readonly duringRun: CommandContext['duringRun']
}

/** What a program of the system answers that cannot make the file it was asked for (sysexits.h). */
const cannotCreateExitCode = 73

/** Answers with the exit code; throws the signal's reason, once all is printed, if the run was cancelled. */
export async function runOnce({ engineOptions, request, flags, duringRun }: RunOnce): Promise<number> {
  // Before the run: a place that cannot be written to is known before anything is spent.
  await using folder = flags.outputDir === undefined ? null : await OutputFolder.open(flags.outputDir)
  const output = new GuestOutput()
  const isJson = flags.json === true
  const result = await duringRun(async () => {
    // What there is to warn of is said below, on a line of the command's own.
    await using lazaret = createLazaret({ ...engineOptions, onEvent: () => undefined })
    return await lazaret.run(isJson ? request : { ...request, onOutput: output.write })
  })
  const written = folder === null ? undefined : await writeOutputs(result, folder)
  if (isJson) printJson(toResultDocument(result))
  else
    printResult(result, output, {
      arePicturesWritten: folder !== null,
      isLevelNamed: engineOptions.minimumProtection !== undefined,
      ceilings: engineOptions.ceilings ?? {},
    })
  for (const line of [...describeMissing(request, result), ...(written?.lines ?? [])])
    output.printLine('stderr', `lazaret: ${line}`)
  if (result.outcome.kind === 'cancelled') request.signal?.throwIfAborted()
  const exitCode = exitCodeOf(result.outcome)
  return exitCode === 0 && written?.isComplete === false ? cannotCreateExitCode : exitCode
}

/** A pattern with a slip in it brings nothing, without being wrong. */
function describeMissing({ collect }: RunRequest, { files, truncated }: RunResult): string[] {
  if (collect === undefined || Object.keys(files).length > 0 || truncated.includes('files')) return []
  return [`nothing matched --collect ${toSingleLine(collect.join(', '))}.`]
}
