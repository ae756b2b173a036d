/** The schemas of the sandbox tools' arguments and results, for clients. */
import { z } from 'zod'
import { contextLanguages } from '../../../core/work.ts'
import { outputSchema } from '../tool-schemas.ts'

const sandboxId = z.string().max(100).describe('From create_sandbox.')
const timeoutMs = z.number().int().min(1).max(2_147_483_647).optional()
const path = z.string().max(4096).describe('Absolute, such as /workspace/data.csv.')
const encoding = z.enum(['utf8', 'base64']).optional().describe('The encoding of the content. Default utf8.')

export const createSandbox = {
  input: z.strictObject({}),
  output: z.object({
    sandbox_id: z.string().optional(),
    idleTimeoutMs: z.number().optional().describe('The sandbox ends after this time without a call.'),
    error: outputSchema.shape.error,
  }),
}

export const runCode = {
  input: z.strictObject({
    sandbox_id: sandboxId,
    code: z.string(),
    language: z.enum(contextLanguages).optional().describe('Default python.'),
    context_id: z
      .string()
      .max(100)
      .optional()
      .describe('The name of a separate set of variables. Default: one for each language.'),
    timeout_ms: timeoutMs,
  }),
  output: outputSchema.extend({
    isStateKept: z
      .boolean()
      .optional()
      .describe('Whether variables, imports and functions still exist for the next call.'),
    note: z.string().optional(),
  }),
}

export const executeCommand = {
  input: z.strictObject({
    sandbox_id: sandboxId,
    command: z
      .string()
      .describe('A line of bash. It keeps the folder and the variables of earlier commands.'),
    cwd: z.string().max(4096).optional(),
    timeout_ms: timeoutMs,
  }),
  output: outputSchema.extend({ exitCode: z.number().int().optional() }),
}

export const readFile = {
  input: z.strictObject({ sandbox_id: sandboxId, path, encoding }),
  output: z.object({
    content: z.string().optional(),
    note: z.string().optional(),
    error: outputSchema.shape.error,
  }),
}

export const writeFile = {
  input: z.strictObject({ sandbox_id: sandboxId, path, content: z.string(), encoding }),
  output: z.object({ bytes: z.number().optional(), error: outputSchema.shape.error }),
}

export const listFiles = {
  input: z.strictObject({
    sandbox_id: sandboxId,
    path: z.string().max(4096).optional().describe('Default /workspace.'),
    recursive: z.boolean().optional(),
  }),
  output: z.object({
    entries: z.array(z.object({ path: z.string(), type: z.string(), bytes: z.number() })).optional(),
    isComplete: z.boolean().optional(),
    error: outputSchema.shape.error,
  }),
}

const contextName = z.string().max(100)

export const forkContext = {
  input: z.strictObject({
    sandbox_id: sandboxId,
    context_id: contextName.describe('A context_id that run_code was called with.'),
    new_context_id: contextName.describe('A name for the fork.'),
  }),
  output: z.object({ context_id: z.string().optional(), error: outputSchema.shape.error }),
}

export const closeContext = {
  input: z.strictObject({ sandbox_id: sandboxId, context_id: contextName }),
  output: z.object({ isClosed: z.boolean(), error: outputSchema.shape.error }),
}

export const closeSandbox = {
  input: z.strictObject({ sandbox_id: sandboxId }),
  output: z.object({ isClosed: z.boolean(), error: outputSchema.shape.error }),
}
