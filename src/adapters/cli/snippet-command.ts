/** `lazaret snippet`: one request as JSON on standard input, the answer as JSON on standard output and error. */
import type { Command } from 'commander'

import { holdProcess, systemClock } from '../../core/clock.ts'
import { LazaretError } from '../../core/errors.ts'
import type { RunJob } from '../snippet-tool/perform-snippet.ts'
import type { SnippetResult } from '../snippet-tool/snippet-types.ts'
import { readStandardInput } from './bounded-read.ts'
import type { CommandContext } from './command-context.ts'
import { printJson, toJsonLine } from './print-json.ts'

/** A source and an input of the largest size, with every character escaped. */
const requestBytesMax = 64 * 1024 * 1024

const exitCodes = { failed: 1, invalid: 2 } as const

const noRequest: SnippetResult = {
  error: { code: 'INVALID_INPUT', message: 'Standard input must be one JSON object, of at most 64 MiB.' },
}

const help = `
The request:  {"source": string, "input"?: string, "limits"?: {"wall_ms"?: 1…60000, "output_kb"?: 1…16384},
               "clock"?: "fixed" | "real", "randomness"?: "fixed" | "real"}
The program:  read_input() returns the input, emit(text) adds to the output; there is nothing else.
The answer:   {"output":"…"} on standard output, exit code 0; or {"code":"…","message":"…"} on standard error:
              INVALID_INPUT exit code 2; EVAL_ERROR, TIMEOUT, OUTPUT_LIMIT (with the output that fitted on standard
              output), MEMORY_LIMIT exit code 1.

Example:
  printf '{"source":"emit(read_input())","input":"hello"}' | lazaret snippet`

export function addSnippetCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('snippet')
    .description('run a small JavaScript program that only computes: JSON in, JSON out, no jail needed')
    .addHelpText('after', help)
    .action(() => context.perform(command, () => snippet(context)))
}

async function snippet({ signal, duringRun, warn }: CommandContext): Promise<number> {
  if (process.stdin.isTTY)
    warn('reads one request as JSON from the terminal; end it with Ctrl-D, or see --help.')
  const request = await readRequest(signal)
  const result =
    request === undefined
      ? noRequest
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

async function runInThread(request: unknown, signal: AbortSignal): Promise<SnippetResult> {
  const [{ snippetThread }, { performSnippet }] = await Promise.all([
    import('./snippet-thread.ts'),
    import('../snippet-tool/perform-snippet.ts'),
  ])
  const letGo = holdProcess(systemClock)
  const run: RunJob = async (job, wallMs) => {
    await snippetThread.ready()
    return snippetThread.run(job, { clock: systemClock, wallMs, signal })
  }
  try {
    return await performSnippet(request, run, signal)
  } finally {
    letGo()
    await snippetThread.end()
  }
}

/** What is no fault of the program is told in the same way. */
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

/** Undefined when it is no JSON. */
async function readRequest(signal: AbortSignal): Promise<unknown> {
  try {
    const bytes = await readStandardInput({ bytesMax: requestBytesMax, signal })
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return undefined
    if (error instanceof LazaretError && error.code === 'INPUT_TOO_LARGE') return undefined
    throw error
  }
}
