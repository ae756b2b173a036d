/** The snippet tool in the form of agents' tools: a name, a description for the model, schemas, and a function. */
import { snippetLimits } from './parse-snippet.ts'
import { runSnippet } from './run-snippet.ts'
import type { SnippetOptions } from './run-snippet.ts'
import type { SnippetRequest, SnippetResult } from './snippet-types.ts'

/** JSON Schema of an object, as lists of tools take it. */
export interface SnippetSchema {
  type: 'object'
  properties: Record<string, object>
  required?: string[]
}

export interface SnippetTool {
  /** In the form that model APIs accept: letters, digits, underscores and dashes. */
  readonly name: 'run_snippet'
  /** The name of the command in catalogues of tools. */
  readonly id: 'code.sandbox.js.run'
  /** For the model. */
  readonly description: string
  readonly inputSchema: SnippetSchema
  readonly outputSchema: SnippetSchema
  /**
   * Takes whatever a model wrote: a wrong request is an INVALID_INPUT. Clock and randomness are fixed; only the
   * application can choose real ones, with `runSnippet`. Throws as that does.
   */
  readonly run: (request: unknown, options?: SnippetOptions) => Promise<SnippetResult>
}

const count = ({ usual, max }: { readonly usual: number; readonly max: number }, description: string) => ({
  type: 'integer',
  minimum: 1,
  maximum: max,
  default: usual,
  description,
})

/**
 * The tool `run_snippet`, for lists of tools. The schemas are JSON Schema.
 *
 * @example
 * ```ts
 * const result = await snippetTool.run(JSON.parse(toolCall.arguments))
 * ```
 */
export const snippetTool: SnippetTool = {
  name: 'run_snippet',
  id: 'code.sandbox.js.run',
  description:
    'Runs a short JavaScript program that only computes. It reads its input with read_input(), a string, and answers ' +
    'with emit(text). There is no network, file, clock, timer, randomness, console, require, import, promise or eval. ' +
    'The same source and input always give the same output.',
  inputSchema: {
    type: 'object',
    required: ['source'],
    properties: {
      source: { type: 'string', minLength: 1, description: 'The program: a script in JavaScript.' },
      input: { type: 'string', default: '', description: 'What read_input() returns.' },
      limits: {
        type: 'object',
        properties: {
          wall_ms: count(snippetLimits.wall_ms, 'Wall-clock time in milliseconds.'),
          output_kb: count(snippetLimits.output_kb, 'All emitted text together, in KiB.'),
        },
      },
    },
  },
  outputSchema: {
    type: 'object',
    properties: {
      output: { type: 'string', description: 'Everything that was emitted.' },
      error: {
        type: 'object',
        required: ['code', 'message'],
        properties: {
          code: { enum: ['INVALID_INPUT', 'EVAL_ERROR', 'TIMEOUT', 'OUTPUT_LIMIT', 'MEMORY_LIMIT'] },
          message: { type: 'string' },
        },
      },
    },
  },
  run: (request, options) => runSnippet(withFixed(request) as SnippetRequest, options),
}

/**
 * Overrides the request's own choice. Nothing of the request is read here: its getters may throw, and the parser reports
 * that.
 */
function withFixed(request: unknown): unknown {
  if (typeof request !== 'object' || request === null) return request
  return Object.create(request, { clock: { value: 'fixed' }, randomness: { value: 'fixed' } })
}
