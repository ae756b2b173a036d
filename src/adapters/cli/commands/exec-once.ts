/** Runs one command in a new sandbox, and prints its result. */
import { LazaretError } from '../../../core/errors/errors.ts'
import type { MissingFiles } from '../../../core/missing-files.ts'
import { isIncomplete } from '../../../core/missing-files.ts'
import type { Limits } from '../../../core/limits.ts'
import { createLazaret } from '../../../engine/lazaret.ts'
import { resolveSandboxLimits } from '../../../policy/sandbox-limits.ts'
import type { LazaretOptions } from '../../../engine/options/options.ts'
import { type CollectedFiles, noFiles } from '../../../runtimes/collect/collect-files.ts'
import type { Sandbox } from '../../../sandbox/sandbox.ts'
import type { ExecOptions, ExecResult } from '../../../sandbox/types.ts'
import { collectFromSandbox } from '../output/collect-from-sandbox.ts'
import { paint } from '../output/colour.ts'
import { commandTimeout } from '../options/command-timeout.ts'
import { allowAsked } from '../options/allow-asked.ts'
import type { CommandContext } from './command-context.ts'
import { describeOutcome } from '../output/describe-outcome.ts'
import type { ExecFlags } from '../options/exec-options.ts'
import { exitCodeOf } from '../../../core/outcome.ts'
import { GuestOutput } from '../output/guest-output.ts'
import { openOutput } from '../output/open-output.ts'
import { toFilesDocument } from '../../../result/run-result.ts'
import { printJson } from '../output/print-json.ts'
import {
  describeClamped,
  describeMissing,
  describeNetwork,
  describeTouched,
  describeTruncated,
  describeUnmatched,
} from '../output/remarks.ts'
import type { GuestSupplies } from '../options/request-from-flags.ts'
import { exitCodeWith, writeOutputs } from '../output/write-outputs.ts'

export interface ExecOnce extends Pick<CommandContext, 'signal' | 'duringRun'> {
  readonly engineOptions: LazaretOptions
  readonly command: string
  readonly supplies: GuestSupplies
  readonly variables: Readonly<Record<string, string>>
  readonly flags: ExecFlags
}

/** Returns the exit code. If the command was cancelled, it prints everything and then throws the signal's reason. */
export async function execOnce(exec: ExecOnce): Promise<number> {
  const { flags, signal, supplies } = exec
  // Opened first, so that no command runs if the folder cannot be written to.
  await using folder = await openOutput(flags, exec.engineOptions)
  const output = new GuestOutput()
  const { limits, clamped } = resolveSandboxLimits(supplies.limits, exec.engineOptions)
  const { result, collected, lowered } = await exec.duringRun(() => perform(exec, limits, output))
  const { outcome } = result
  const { files, executables, folders, missing: missingFiles } = collected ?? noFiles
  const brought = { files, executables, folders, missingFiles }
  const truncated = [...result.truncated, ...(isIncomplete(missingFiles) ? (['files'] as const) : [])]
  const written = folder === null ? undefined : await writeOutputs({ ...brought, displays: [] }, folder)
  if (flags.json === true)
    printJson({
      ...result,
      truncated,
      ...(collected && { ...brought, files: toFilesDocument(files) }),
    })
  else
    printEnd(
      { ...result, truncated, missingFiles, clamped: [...new Set([...clamped, ...lowered])] },
      output,
      exec.engineOptions,
    )
  for (const line of [...describeUnmatched(supplies.collect, brought), ...(written?.lines ?? [])])
    output.printLine('stderr', `lazaret: ${line}`)
  if (outcome.kind === 'cancelled') signal.throwIfAborted()
  return exitCodeWith(written, exitCodeOf(outcome))
}

interface Performed {
  readonly result: ExecResult
  /** Undefined without `--collect`. */
  readonly collected: CollectedFiles | undefined
  /** Requested limits that the sandbox lowered. */
  readonly lowered: readonly string[]
}

async function perform(exec: ExecOnce, limits: Limits, output: GuestOutput): Promise<Performed> {
  const { command, engineOptions, flags, signal, supplies } = exec
  const { files, env, limits: asked, network = 'none', stdin, collect, environment, secrets } = supplies
  const { wallMs, cpuMs: _, ...sandboxLimits } = asked
  const timeout = commandTimeout(wallMs, engineOptions)
  // Events are not printed. The command prints its own warnings at the end.
  await using lazaret = createLazaret({ ...allowAsked(engineOptions, network), onEvent: () => undefined })
  await using sandbox = await lazaret.sandbox({
    files,
    limits: sandboxLimits,
    network,
    ...(environment !== undefined && { environment }),
    ...(secrets !== undefined && { secrets }),
    // Protected ports are those of a service on this machine. The command line is not one.
    protectedPorts: [],
    allowDegradedSecrets: flags.allowDegradedSecrets === true,
  })
  const result = await runToItsEnd(sandbox, command, {
    signal,
    ...(Object.keys(env).length > 0 && { env }),
    variables: exec.variables,
    ...(stdin !== undefined && { stdin }),
    timeout: timeout ?? null,
    ...(flags.json !== true && { onOutput: output.write }),
  })
  const collected = collect && (await collectFromSandbox(sandbox, collect, { ...limits, signal }))
  const lowered = sandbox.clamped.filter(({ of }) => of === 'request').map(({ limit }) => limit)
  return { result, collected, lowered }
}

/** Streams the command outside of any session, because in a session a shell that kills itself is an error. */
async function runToItsEnd(sandbox: Sandbox, command: string, options: ExecOptions): Promise<ExecResult> {
  for await (const event of sandbox.execStream(command, options)) {
    if (event.type === 'complete') return event.result
    if (event.type === 'error') throw withFlag(event.error)
  }
  throw new LazaretError('INTERNAL', { detail: 'The stream of a command ended without its result.' })
}

/** The library's hint names an option. On the command line it is a flag. */
function withFlag(error: unknown): unknown {
  if (!(error instanceof LazaretError) || error.code !== 'SECRETS_UNPROTECTED') return error
  const hint = 'Run `lazaret doctor` for the fix, or accept it with --allow-degraded-secrets.'
  return new LazaretError('SECRETS_UNPROTECTED', { hint, cause: error })
}

interface Ended extends Pick<
  ExecResult,
  'outcome' | 'stdout' | 'stderr' | 'isolation' | 'touched' | 'receipt'
> {
  readonly truncated: readonly string[]
  readonly missingFiles: readonly MissingFiles[]
  readonly clamped: readonly string[]
}

function printEnd(ended: Ended, output: GuestOutput, { ceilings }: LazaretOptions): void {
  const { outcome, truncated, missingFiles, clamped, touched } = ended
  output.end()
  const remarks = [
    ...describeTruncated(truncated),
    ...describeMissing(missingFiles),
    ...describeClamped(clamped),
    ...describeNetwork(ended),
    ...(outcome.kind === 'completed' ? describeTouched(touched) : []),
  ]
  for (const line of remarks) output.printLine('stderr', `lazaret: ${line}`)
  const ending = describeOutcome(outcome, ceilings)
  if (ending !== undefined) output.printLine('stderr', paint('red', `lazaret: ${ending}`, process.stderr))
}
