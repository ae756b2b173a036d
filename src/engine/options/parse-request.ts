/** Turns unknown input into a RunRequest, or a refusal that names the field. */
import { z } from 'zod'

import { LazaretError } from '../../core/errors/errors.ts'
import { languages, realms, runtimeNames } from '../../core/request.ts'
import type { RunRequest, RunSpec } from '../../core/request.ts'
import type { JobHandles } from '../../runtimes/work/guest-start.ts'
import { findBadPattern } from '../../runtimes/collect/pattern.ts'
import { surveyPaths } from './check-sizes.ts'
import { checkRealm } from './check-realm.ts'
import { checkFunctions, functionsSchema } from './function-names.ts'
import { environmentNameSchema } from '../../environments/read-spec.ts'
import { isAbortSignal, plainBytes, readInput } from '../../policy/hostile-input.ts'
import { openGuestSecrets } from '../../jail/edge/guest-secrets.ts'
import { networkSchema } from '../../policy/network/network-schema.ts'
import { secretsSchema } from '../../policy/network/secrets-schema.ts'
import { checkPreload, limitsSchema, parsing, preloadSchema, sayIssues } from '../../policy/schemas.ts'

/** The kernel takes no longer argument or variable (MAX_ARG_STRLEN, execve(2)). */
const argumentBytesMax = 128 * 1024 - 1
const nameBytesMax = 255
const filesMax = 10_000
const pathDepthMax = 64
/** Of all files together. Reading more would block the event loop for too long. */
const pathsLengthMax = 4 * 1024 * 1024
const variablesMax = 1000
const globsMax = 64

const text = z.string().refine((value) => !value.includes('\0'), { error: 'must not contain NUL' })
const argument = text.refine((value) => Buffer.byteLength(value) <= argumentBytesMax, {
  error: 'is longer than 128 KiB',
})
/** `NAME=value` is one string to the kernel. */
const variable = text.refine((value) => Buffer.byteLength(value) < argumentBytesMax - nameBytesMax, {
  error: 'is longer than 127 KiB',
})
/** Zod drops the key `__proto__` silently, but nothing that was asked for may disappear. */
const named = z.custom<Record<string, unknown>>(
  (value) => !isObject(value) || !Object.hasOwn(value, '__proto__'),
  {
    error: '`__proto__` cannot be a name here',
  },
)
const readBytes = z.unknown().transform((value, context) => {
  const plain = plainBytes(value)
  if (plain !== undefined) return plain
  context.addIssue({ code: 'custom', message: 'must be bytes' })
  return z.NEVER
})
const bytes = z.union([z.string(), readBytes], {
  error: 'must be a string or bytes (a Uint8Array)',
})

const workspacePath = text.refine(isWorkspacePath, {
  error: 'must be a relative path without `.`, `..`, empty or over-long parts',
})

const globs = z
  .array(text)
  .max(globsMax)
  .superRefine((patterns, context) => {
    const bad = findBadPattern(patterns)
    if (bad !== undefined) context.addIssue({ code: 'custom', path: [bad.index], message: bad.problem })
  })

/** Files of the workspace by relative path. */
export const filesSchema = named
  // First, because the other checks read every path.
  .refine((files) => !isObject(files) || Object.keys(files).length <= filesMax, {
    error: `more than ${filesMax} files`,
  })
  .refine((files) => !isObject(files) || Object.keys(files).join('').length <= pathsLengthMax, {
    error: `paths of more than ${pathsLengthMax} characters`,
  })
  .pipe(z.record(workspacePath, bytes))
  .superRefine((files, context) => {
    const { fileInFile } = surveyPaths(Object.keys(files))
    if (fileInFile !== undefined)
      context.addIssue({ code: 'custom', message: `${fileInFile} is a file and a folder` })
  })

function callback<T>() {
  return z.custom<T>((value) => typeof value === 'function', { error: 'must be a function' }).optional()
}

/** The client that the run is for. */
export const clientSchema = text.max(256)

/** The fields of a request, each by itself. */
export const runFields = z.strictObject({
  code: text,
  language: z.enum(languages),
  runtime: z.enum(runtimeNames).optional(),
  realm: z.enum(realms).optional(),
  input: z.unknown().optional(),
  args: z.array(argument).max(1000).optional(),
  files: filesSchema.optional(),
  collect: globs.optional(),
  stdin: bytes.optional(),
  env: named
    .pipe(
      z.record(
        z
          .string()
          .max(nameBytesMax)
          .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'is not a variable name'),
        variable,
      ),
    )
    .refine((env) => Object.keys(env).length <= variablesMax, {
      error: `more than ${variablesMax} variables`,
    })
    .optional(),
  functions: named.pipe(functionsSchema).optional(),
  limits: limitsSchema.optional(),
  network: networkSchema.optional(),
  secrets: secretsSchema.optional(),
  preload: preloadSchema.optional(),
  environment: environmentNameSchema.optional(),
  client: clientSchema.optional(),
  signal: z.custom<AbortSignal>(isAbortSignal, { error: 'must be an AbortSignal' }).optional(),
  onOutput: callback<RunRequest['onOutput']>(),
  onLog: callback<RunRequest['onLog']>(),
  onDisplay: callback<RunRequest['onDisplay']>(),
  onClear: callback<RunRequest['onClear']>(),
  keepOutput: z.boolean().optional(),
})

const cellless: readonly string[] = ['snippet', 'isolate']

const schema = runFields
  .refine(({ keepOutput, onOutput }) => keepOutput !== false || onOutput !== undefined, {
    error: 'must not be false without `onOutput`: the output would be lost',
    path: ['keepOutput'],
  })
  .refine(({ environment, runtime }) => environment === undefined || !cellless.includes(runtime ?? ''), {
    error: 'is not for snippets and isolates, which import no packages',
    path: ['environment'],
  })
  .refine(({ secrets, runtime }) => secrets === undefined || !cellless.includes(runtime ?? ''), {
    error: 'are not for snippets and isolates, which have no network',
    path: ['secrets'],
  })
  .refine(({ secrets = {}, env = {} }) => !Object.keys(secrets).some((name) => Object.hasOwn(env, name)), {
    error: 'has the name of a secret',
    path: ['env'],
  })
  .superRefine(checkFunctions)
  .superRefine(checkRealm)
  .superRefine(checkPreload)

/** The two halves of a request. */
export interface ParsedRequest {
  readonly spec: RunSpec
  readonly handles: JobHandles
}

/** Throws INVALID_REQUEST. */
export function parseRequest(input: RunRequest): ParsedRequest {
  const parsed = readInput(() => schema.safeParse(input, parsing))
  if (!parsed.success) throw new LazaretError('INVALID_REQUEST', { detail: sayIssues(parsed.error) })
  const {
    functions,
    signal,
    onOutput,
    onLog,
    onDisplay,
    onClear,
    keepOutput,
    secrets: asked,
    ...fields
  } = parsed.data as RunRequest
  const secrets = openGuestSecrets({ secrets: asked, network: fields.network })
  // Not in the schema: another input may be a proxy, which zod would ask whether it is a promise.
  const plainInput = plainBytes(fields.input)
  return {
    spec: {
      ...fields,
      ...(secrets && { env: { ...fields.env, ...secrets.keyring.placeholders } }),
      ...(plainInput === undefined ? {} : { input: plainInput }),
      ...(functions === undefined ? {} : { functionNames: Object.keys(functions) }),
    },
    handles: {
      ...(secrets && { secrets }),
      ...(functions === undefined ? {} : { functions }),
      ...(signal === undefined ? {} : { signal }),
      ...(onOutput === undefined ? {} : { onOutput }),
      ...(onLog === undefined ? {} : { onLog }),
      ...(onDisplay === undefined ? {} : { onDisplay }),
      ...(onClear === undefined ? {} : { onClear }),
      ...(keepOutput === undefined ? {} : { keepOutput }),
    },
  }
}

const [dot, slash] = [46, 47]

/** Reads it once and does not divide it, because a request may have thousands of paths with dozens of parts. */
function isWorkspacePath(path: string): boolean {
  let [start, parts] = [0, 0]
  for (let at = 0; at <= path.length; at++) {
    if (at < path.length && path.charCodeAt(at) !== slash) continue
    if (!isName(path, start, at) || ++parts > pathDepthMax) return false
    start = at + 1
  }
  return true
}

/** Whether this part of a path is not empty, `.` or `..`, and short enough. A character takes at most three bytes. */
function isName(path: string, start: number, end: number): boolean {
  if (end - start <= 2)
    return end > start && (path.charCodeAt(start) !== dot || path.charCodeAt(end - 1) !== dot)
  return (end - start) * 3 <= nameBytesMax || Buffer.byteLength(path.slice(start, end)) <= nameBytesMax
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
