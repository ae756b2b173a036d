/** Runs one request and prints its result. */
import type { RunRequest } from '../../../core/request.ts'
import { createLazaret } from '../../../engine/lazaret.ts'
import type { LazaretOptions } from '../../../engine/options/options.ts'
import { allowAsked } from '../options/allow-asked.ts'
import type { CommandContext } from './command-context.ts'
import { exitCodeOf } from '../../../core/outcome.ts'
import { GuestOutput } from '../output/guest-output.ts'
import { printJson } from '../output/print-json.ts'
import { openOutput } from '../output/open-output.ts'
import { printResult } from '../output/print-result.ts'
import { describeUnmatched } from '../output/remarks.ts'
import type { RunFlags } from '../options/run-options.ts'
import { exitCodeWith, writeOutputs } from '../output/write-outputs.ts'

export interface RunOnce {
  readonly engineOptions: LazaretOptions
  readonly request: RunRequest
  readonly flags: RunFlags
  readonly duringRun: CommandContext['duringRun']
}

/** Returns the exit code. If the run was cancelled, it prints everything and then throws the signal's reason. */
export async function runOnce({ engineOptions, request, flags, duringRun }: RunOnce): Promise<number> {
  // Opened first, so that nothing runs if the folder cannot be written to.
  await using folder = await openOutput(flags, engineOptions)
  const output = new GuestOutput()
  const isJson = flags.json === true
  const result = await duringRun(async () => {
    // Events are not printed. The command prints its own warnings below.
    await using lazaret = createLazaret({
      ...allowAsked(engineOptions, request.network),
      onEvent: () => undefined,
    })
    return await lazaret.run(isJson ? request : { ...request, onOutput: output.write })
  })
  const written = folder === null ? undefined : await writeOutputs(result, folder)
  if (isJson) printJson(result)
  else
    printResult(result, output, {
      arePicturesWritten: folder !== null,
      ceilings: engineOptions.ceilings ?? {},
    })
  for (const line of [...describeUnmatched(request.collect, result), ...(written?.lines ?? [])])
    output.printLine('stderr', `lazaret: ${line}`)
  if (result.outcome.kind === 'cancelled') request.signal?.throwIfAborted()
  return exitCodeWith(written, exitCodeOf(result.outcome))
}
