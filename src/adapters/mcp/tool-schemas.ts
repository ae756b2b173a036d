/** The schemas of the tools' arguments and results, and their descriptions for models. */
import { z } from 'zod'
import type { Limits } from '../../core/limits.ts'
import type { Outcome } from '../../core/outcome.ts'
import { languages } from '../../core/request.ts'
import { validatedLanguages } from '../../policy/validation/rules.ts'
import { formatDuration, formatSize } from '../cli/options/units.ts'

export const toolName = 'execute_code'
export const validateToolName = 'validate_code'

export const inputSchema = z.strictObject({
  language: z.enum(languages),
  code: z.string().describe('The whole program.'),
  input: z
    .unknown()
    .optional()
    .describe(
      'Any JSON: `input` in JavaScript and TypeScript, `input_data` in Python, the file $INPUT in shell.',
    ),
  timeout_ms: z.number().int().min(1).max(2_147_483_647).optional(),
})

const outcomes = [
  'completed',
  'failed',
  'syntax-error',
  'timed-out',
  'out-of-memory',
  'limit-exceeded',
  'denied',
  'killed',
  'cancelled',
] as const satisfies readonly Outcome['kind'][]

const errorSchema = z.object({
  name: z.string(),
  message: z.string(),
  line: z.number().int().optional().describe('1-based, in `code`.'),
  column: z.number().int().optional(),
  stack: z.string().optional(),
  hint: z.string().optional(),
  retryAfterMs: z.number().optional(),
})

const findingsSchema = z.array(
  z.object({
    rule: z.string(),
    message: z.string(),
    line: z.number().int().describe('1-based, in `code`.'),
    column: z.number().int(),
  }),
)

export const outputSchema = z.object({
  outcome: z
    .enum([...outcomes, 'refused', 'fault'])
    .describe(
      'How it ended. refused: it did not run. fault: the service failed, maybe after it began. `error` says why.',
    ),
  stdout: z.string(),
  stderr: z.string(),
  value: z.unknown().optional().describe('The value of the last expression, as JSON.'),
  error: errorSchema.optional().describe('Present unless the program succeeded.'),
  durationMs: z.number(),
  truncated: z.array(z.string()).describe('The fields that are incomplete.'),
  validation: z
    .object({ riskLevel: z.enum(['medium', 'high']), findings: findingsSchema })
    .optional()
    .describe('Present if validation found something in the code. It is advice: it did not change the run.'),
})

export const validateInputSchema = z.strictObject({
  language: z.enum(validatedLanguages),
  code: z.string().describe('The whole program.'),
})

export const validateOutputSchema = z.object({
  isSafe: z.boolean().describe('Whether there are no findings.'),
  riskLevel: z.enum(['safe', 'medium', 'high']),
  findings: findingsSchema,
})

export const validateDescription = [
  'Reads a program without running it, and lists what is risky in it, such as eval, processes, the network, or the internals of the',
  'interpreter, each with its line. Advice: execute_code runs every program in a sandbox, whatever this says.',
  'Languages: javascript, typescript, python. At most 50,000 characters.',
].join(' ')

export type Execution = z.infer<typeof outputSchema>
export type ExecutionError = z.infer<typeof errorSchema>

export function describeTool(limits: Limits): string {
  const { wallMs, memoryBytes, outputBytes } = limits
  return [
    'Runs a program in a fresh, isolated sandbox and returns what it printed and the value of its last expression.',
    'Languages: javascript and typescript (Bun), python (3, with the packages of this machine), shell (bash).',
    'Nothing is kept between calls: no variables, no files. There is no network.',
    `Limits: ${formatDuration(wallMs)} unless timeout_ms asks for less or more, ${formatSize(memoryBytes)} of memory,`,
    `${formatSize(outputBytes)} of output; long output comes back shortened, so print what matters.`,
    'matplotlib figures and arguments of display() are returned as pictures.',
    'If the program fails, the result is an error: `outcome` says how it ended, `error` has the message and the line.',
  ].join(' ')
}
