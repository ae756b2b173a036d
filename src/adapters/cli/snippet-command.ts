/** `lazaret snippet`: one request as JSON on standard input, the answer as JSON on standard output and error. */
import type { Command } from 'commander'

import { holdProcess, systemClock } from '../../core/clock.ts'
import { LazaretError } from '../../core/errors.ts'
import type { RunJob } from '../snippet-tool/perform-snippet.ts'
import type { SnippetResult } from '../snippet-tool/snippet-types.ts'
import { readStandardInput } from './bounded-read.ts'
import type { CommandContext } from './command-context.ts'

/** A source and an input of the largest size, with every character escaped. */
const requestBytesMax = 64 * 1024 * 1024

const exitCodes = { failed: 1, invalid: 2 } as const

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
  const result: SnippetResult =
    request === undefined
      ? {
          error: {
            code: 'INVALID_INPUT',
            message: 'Standard input must be one JSON object, of at most 64 MiB.',
          },
        }
      : await duringRun(() => runInThread(request, signal))
  const { output, error } = result
  if (output !== undefined) process.stdout.write(`${JSON.stringify({ output })}\n`)
  if (error === undefined) return 0
  process.stderr.write(`${JSON.stringify(error)}\n`)
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
