/** Runs one command in a new sandbox, and prints its result. */
import { LazaretError } from '../../../core/errors/errors.ts'
import type { Limits } from '../../../core/limits.ts'
import { createLazaret } from '../../../engine/lazaret.ts'
import { resolveSandboxLimits } from '../../../policy/sandbox-limits.ts'
import type { LazaretOptions } from '../../../engine/options/options.ts'
import type { CollectedFiles } from '../../../runtimes/collect/collect-files.ts'
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

/** Answers with the exit code; throws the signal's reason, once all is printed, if the command was cancelled. */
export async function execOnce(exec: ExecOnce): Promise<number> {
  const { flags, signal, supplies } = exec
  // Before the command: a place that cannot be written to is known before anything is spent.
  await using folder = await openOutput(flags, exec.engineOptions)
  const output = new GuestOutput()
  const { limits, clamped } = resolveSandboxLimits(supplies.limits, exec.engineOptions)
  const { result, collected, lowered } = await exec.duringRun(() => perform(exec, limits, output))
  const { outcome } = result
  const files = collected?.files ?? {}
  const cut = collected?.isComplete === false ? (['files'] as const) : []
  const truncated = [...result.truncated, ...cut]
  const written = folder === null ? undefined : await writeOutputs({ files, displays: [] }, folder)
  if (flags.json === true)
    printJson({ ...result, truncated, ...(collected && { files: toFilesDocument(files) }) })
  else
    printEnd(
      { ...result, truncated, clamped: [...new Set([...clamped, ...lowered])] },
      output,
      exec.engineOptions,
    )
  for (const line of [
    ...describeUnmatched(supplies.collect, { files, truncated }),
    ...(written?.lines ?? []),
  ])
    output.printLine('stderr', `lazaret: ${line}`)
  if (outcome.kind === 'cancelled') signal.throwIfAborted()
  return exitCodeWith(written, exitCodeOf(outcome))
}

interface Performed {
  readonly result: ExecResult
  /** Undefined when no files were asked for. */
  readonly collected: CollectedFiles | undefined
  /** What was asked of the sandbox and cannot be here. */
  readonly lowered: readonly string[]
}

async function perform(exec: ExecOnce, limits: Limits, output: GuestOutput): Promise<Performed> {
  const { command, engineOptions, flags, signal, supplies } = exec
  const { files, env, limits: asked, network = 'none', stdin, collect, environment } = supplies
  const timeout = commandTimeout(asked.wallMs, engineOptions)
  // What there is to warn of is said at the end, on a line of the command's own.
  await using lazaret = createLazaret({ ...allowAsked(engineOptions, network), onEvent: () => undefined })
  await using sandbox = await lazaret.sandbox({
    files,
    limits: asked,
    network,
    ...(environment !== undefined && { environment }),
    // They keep ports free for a service, and the command line has none.
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

/** Outside of the session, which no one needs: for its next command a shell that killed itself would be an error. */
async function runToItsEnd(sandbox: Sandbox, command: string, options: ExecOptions): Promise<ExecResult> {
  for await (const event of sandbox.execStream(command, options)) {
    if (event.type === 'complete') return event.result
    if (event.type === 'error') throw withFlag(event.error)
  }
  throw new LazaretError('INTERNAL', { detail: 'A command had no end.' })
}

/** Here the wish that the library's hint speaks of is written in another way. */
function withFlag(error: unknown): unknown {
  if (!(error instanceof LazaretError) || error.code !== 'SECRETS_UNPROTECTED') return error
  const hint = 'Run `lazaret doctor` for the fix, or accept it with --allow-degraded-secrets.'
  return new LazaretError('SECRETS_UNPROTECTED', { hint, cause: error })
}

interface Ended extends Pick<ExecResult, 'outcome' | 'isolation' | 'touched' | 'receipt'> {
  readonly truncated: readonly string[]
  readonly clamped: readonly string[]
}

function printEnd(
  { outcome, truncated, clamped, touched, receipt }: Ended,
  output: GuestOutput,
  { ceilings }: LazaretOptions,
): void {
  output.end()
  const remarks = [
    ...describeTruncated(truncated),
    ...describeClamped(clamped),
    ...describeNetwork(receipt),
    ...(outcome.kind === 'completed' ? describeTouched(touched) : []),
  ]
  for (const line of remarks) output.printLine('stderr', `lazaret: ${line}`)
  const ending = describeOutcome(outcome, ceilings)
  if (ending !== undefined) output.printLine('stderr', paint('red', `lazaret: ${ending}`, process.stderr))
}
