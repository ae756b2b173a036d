/** `lazaret snippet`: one request as JSON on standard input, the answer as JSON on standard output and error. */
import { isUtf8 } from 'node:buffer'

import type { Command, CommanderError } from 'commander'

import { holdProcess, systemClock } from '../../../core/clock.ts'
import { LazaretError } from '../../../core/errors/errors.ts'
import type { LazaretOptions } from '../../../engine/options/options.ts'
import { snippetsAreOff } from '../../../core/errors/snippets-off.ts'
import type { RunJob } from '../../snippet-tool/perform-snippet.ts'
import type { SnippetResult } from '../../snippet-tool/snippet-types.ts'
import { readStandardInput } from '../options/bounded-read.ts'
import { UsageError } from '../options/usage-error.ts'
import { isConfigured, usualPlaces } from '../configuration/config-places.ts'
import type { CommandContext } from './command-context.ts'
import { printJson, toJsonLine } from '../output/print-json.ts'
import { describeSystemError } from '../output/system-error.ts'

/** Room for a source and an input of the largest size with every character escaped. */
const requestBytesMax = 64 * 1024 * 1024

export const exitCodes = { failed: 1, invalid: 2 } as const

const help = `
The request:  {"source": string, "input"?: string, "limits"?: {"wall_ms"?: 1…60000, "output_kb"?: 1…16384},
               "clock"?: "fixed" | "real", "randomness"?: "fixed" | "real"}
The program:  read_input() returns the input, emit(text) adds to the output; there is nothing else.
The answer:   {"output":"…"} on standard output, exit code 0; or {"code":"…","message":"…"} on standard error:
              INVALID_INPUT exit code 2; EVAL_ERROR, TIMEOUT, OUTPUT_LIMIT (with the output that fitted on standard
              output), MEMORY_LIMIT exit code 1.

Examples:
  lazaret snippet < request.json
  printf '{"source":"emit(read_input())","input":"hello"}' | lazaret snippet`

export function addSnippetCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('snippet')
    .description('run a small JavaScript program that only computes: JSON in, JSON out, no jail needed')
    .addHelpText('after', help)
    .exitOverride(explainInput)
    .action(() => context.perform(command, () => snippet(context)))
}

/** Reports that this command has no options or arguments, unlike `lazaret run`. */
function explainInput(error: CommanderError): never {
  if (error.exitCode === 0) throw error
  throw new UsageError(
    error.message.replace(/^error: /, ''),
    "The request is JSON on standard input, see --help. To pass a program as text: lazaret run --runtime snippet -e 'emit(6 * 7)'",
  )
}

async function snippet({ signal, duringRun, warn }: CommandContext): Promise<number> {
  if (process.stdin.isTTY)
    warn('reads one request as JSON from the terminal; end it with Ctrl-D, or see --help.')
  const request = await readRequest(signal)
  const result =
    request instanceof InvalidInput
      ? invalid(request.message)
      : await runOrRefuse(() => duringRun(() => runInThread(request, signal)), signal)
  if (result instanceof LazaretError) {
    printFailure(result)
    return result.exitCode
  }
  const { output, error } = result
  if (output !== undefined) printJson({ output })
  if (error === undefined) return 0
  printFailure(error)
  return error.code === 'INVALID_INPUT' ? exitCodes.invalid : exitCodes.failed
}

/**
 * Reads the operator's decisions, which apply to every entry point: whether snippets are allowed, and whether work is
 * recorded. Most users have no configuration file, and then nothing is loaded.
 */
async function readOptions(): Promise<LazaretOptions> {
  const places = usualPlaces()
  if (!isConfigured(places)) return {}
  const { loadConfiguration } = await import('../configuration/configuration.ts')
  const { options } = await loadConfiguration(places)
  if (options.pools?.snippet?.max === 0) throw snippetsAreOff()
  return options
}

/**
 * Runs a snippet next to a Lazaret with the operator's options, which records the work before the answer is printed.
 */
async function performRecorded(
  options: LazaretOptions,
  perform: (govern: (run: RunJob) => RunJob) => Promise<SnippetResult>,
): Promise<SnippetResult> {
  const [{ createLazaret }, { governJob }] = await Promise.all([
    import('../../../engine/lazaret.ts'),
    import('../../snippet-tool/govern-job.ts'),
  ])
  const lazaret = createLazaret(options)
  try {
    return await perform(governJob)
  } finally {
    await lazaret[Symbol.asyncDispose]()
  }
}

async function runInThread(request: unknown, signal: AbortSignal): Promise<SnippetResult> {
  const [{ snippetThread }, { performSnippet }] = await Promise.all([
    import('./snippet-thread.ts'),
    import('../../snippet-tool/perform-snippet.ts'),
  ])
  const letGo = holdProcess(systemClock)
  const run: RunJob = async (job, wallMs) => {
    await snippetThread.ready()
    return snippetThread.run(job, { clock: systemClock, wallMs, signal })
  }
  try {
    const options = await readOptions()
    if ((options.audit ?? false) === false) return await performSnippet(request, run, signal)
    return await performRecorded(options, (govern) => performSnippet(request, govern(run), signal))
  } finally {
    letGo()
    await snippetThread.end()
  }
}

/** Failures that are not the program's fault are reported in the same way. */
async function runOrRefuse(work: () => Promise<SnippetResult>, signal: AbortSignal) {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof LazaretError) || error === signal.reason) throw error
    return error
  }
}

function printFailure({ code, message }: { readonly code: string; readonly message: string }): void {
  process.stderr.write(`${toJsonLine({ code, message })}\n`)
}

/** The input is not a valid request. */
class InvalidInput extends Error {}

const invalid = (reason: string): SnippetResult => ({
  error: { code: 'INVALID_INPUT', message: `Standard input ${reason}` },
})

async function readRequest(signal: AbortSignal): Promise<unknown> {
  let bytes
  try {
    bytes = await readStandardInput({ bytesMax: requestBytesMax, signal })
  } catch (error) {
    if (error instanceof LazaretError && error.code === 'INPUT_TOO_LARGE')
      return new InvalidInput('is longer than 64 MiB.')
    const reason = describeSystemError(error)
    if (reason === undefined) throw error
    return new InvalidInput(`cannot be read: ${reason}.`)
  }
  if (bytes.length === 0) return new InvalidInput('is empty; it must be one JSON object, see --help.')
  return parseJson(bytes)
}

function parseJson(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) return new InvalidInput('must be JSON, but is not UTF-8.')
  try {
    return JSON.parse(bytes.toString())
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return new InvalidInput(`must be one JSON object: ${reason.slice(0, reasonMax)}.`)
  }
}

/** Node's message quotes the invalid text, which may be long. */
const reasonMax = 300
