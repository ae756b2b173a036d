/** Unknown input becomes a RunRequest, or a refusal that names the field. */
import { z } from 'zod'

import { LazaretError } from '../core/errors.ts'
import type { Limits } from '../core/limits.ts'
import { languages, networkModes, runtimeNames } from '../core/request.ts'
import type { RunRequest } from '../core/request.ts'
import { describeIssues, limitsSchema } from './schemas.ts'

/** The kernel takes no longer argument or variable (MAX_ARG_STRLEN, execve(2)). */
const argumentBytesMax = 128 * 1024 - 1
const nameBytesMax = 255
const filesMax = 10_000
const pathDepthMax = 64

const text = z.string().refine((value) => !value.includes('\0'), { error: 'must not contain NUL' })
const argument = text.refine((value) => Buffer.byteLength(value) <= argumentBytesMax, { error: 'is longer than 128 KiB' })
const bytes = z.union([z.string(), z.instanceof(Uint8Array)])

const workspacePath = text.refine(isWorkspacePath, {
  error: 'must be a relative path without `.`, `..`, empty or over-long parts',
})

const schema = z.strictObject({
  code: text,
  language: z.enum(languages),
  runtime: z.enum(runtimeNames).optional(),
  input: z.unknown().optional(),
  args: z.array(argument).max(1000).optional(),
  files: z.record(workspacePath, bytes).refine((files) => Object.keys(files).length <= filesMax, { error: `more than ${filesMax} files` }).optional(),
  stdin: bytes.optional(),
  env: z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'is not a variable name'), argument).optional(),
  limits: limitsSchema.optional(),
  network: z.enum(networkModes).optional(),
  client: text.max(256).optional(),
  signal: z.instanceof(AbortSignal).optional(),
  onOutput: z.custom<RunRequest['onOutput']>((value) => typeof value === 'function').optional(),
})

/** Throws INVALID_REQUEST. */
export function parseRequest(input: RunRequest): RunRequest {
  const parsed = schema.safeParse(input)
  if (parsed.success) return parsed.data as RunRequest
  throw new LazaretError('INVALID_REQUEST', { detail: `${describeIssues(parsed.error)}.` })
}

/** Throws INPUT_TOO_LARGE. The value of `input` is bounded where it is encoded. */
export function checkSizes(request: RunRequest, limits: Limits): void {
  const size = (value: string | Uint8Array | undefined) => (value === undefined ? 0 : Buffer.byteLength(value))
  const files = Object.values(request.files ?? {}).reduce((sum, content) => sum + size(content), 0)
  const checks = [
    { what: 'code', bytes: size(request.code), limit: 'codeBytes' },
    { what: 'stdin and files', bytes: size(request.stdin) + files, limit: 'inputBytes' },
    { what: 'files', bytes: files, limit: 'diskBytes' },
  ] as const
  for (const { what, bytes: given, limit } of checks) {
    if (given <= limits[limit]) continue
    throw new LazaretError('INPUT_TOO_LARGE', { detail: `${what}: ${given} bytes; ${limit} is ${limits[limit]}.` })
  }
}

function isWorkspacePath(path: string): boolean {
  const parts = path.split('/')
  const isName = (part: string) => part !== '' && part !== '.' && part !== '..' && Buffer.byteLength(part) <= nameBytesMax
  return parts.length <= pathDepthMax && parts.every(isName)
}
