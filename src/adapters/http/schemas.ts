/**
 * Schemas of requests and replies. Requests have the engine's schemas, except for fields with another form in JSON. The
 * schemas of replies are complete, and the tests of the API check every reply against them.
 */
import { z } from 'zod'
import { errorTable } from '../../core/errors/errors.ts'
import { limitNames } from '../../core/limits.ts'
import { missingReasons } from '../../core/missing-files.ts'
import { runtimeNames } from '../../core/request.ts'
import { contextLanguages } from '../../core/work.ts'
import { sandboxFields } from '../../engine/open-sandbox.ts'
import { runFields } from '../../engine/options/parse-request.ts'
import { eventSchemas } from './event-schemas.ts'

const bytes = z.union([z.string(), z.strictObject({ base64: z.string() })])
const texts = z.record(z.string(), z.string())
const files = z.record(z.string(), bytes)
const aborted = z.literal('aborted')
const count = z.number()

const runRequest = runFields
  .omit({ client: true, onOutput: true, onLog: true, onDisplay: true, onClear: true })
  .extend({
    inputTagged: z.unknown().optional(),
    files: files.optional(),
    stdin: bytes.optional(),
    env: texts.optional(),
    functions: z.array(z.string()).optional(),
    signal: aborted.optional(),
  })
const sandboxRequest = sandboxFields()
  .omit({ client: true })
  .extend({ id: z.string().optional(), files: files.optional(), env: texts.optional() })

const size = z.strictObject({ columns: z.int(), rows: z.int() })
const commandFields = {
  command: z.string(),
  variables: texts.optional(),
  cwd: z.string().optional(),
  timeout: z.number().nullable().optional(),
  sessionId: z.string().optional(),
  stdin: bytes.optional(),
  tty: size.optional(),
}
const execRequest = z.strictObject({
  ...commandFields,
  env: texts.optional(),
  home: z.literal('workspace').optional(),
  beside: z.boolean().optional(),
  signal: aborted.optional(),
})
const processRequest = z.strictObject({ ...commandFields, id: z.string().optional() })

const guestError = z.strictObject({
  name: z.string(),
  message: z.string(),
  stack: z.string().optional(),
  line: z.int().optional(),
  column: z.int().optional(),
})
const outcome = z.union([
  z.strictObject({ kind: z.literal('completed'), exitCode: z.int() }),
  z.strictObject({ kind: z.literal('failed'), error: guestError, exitCode: z.int() }),
  z.strictObject({ kind: z.literal('syntax-error'), error: guestError }),
  z.strictObject({ kind: z.literal('timed-out'), limit: z.enum(['wall', 'cpu']), limitMs: count }),
  z.strictObject({ kind: z.literal('out-of-memory'), limitBytes: count }),
  z.strictObject({
    kind: z.literal('limit-exceeded'),
    limit: z.enum(['output', 'processes', 'files', 'disk', 'host']),
    allowed: count,
  }),
  z.strictObject({ kind: z.literal('denied'), what: z.string() }),
  z.strictObject({ kind: z.literal('killed'), signal: z.string() }),
  z.strictObject({ kind: z.literal('cancelled') }),
])
const usage = z.strictObject({
  wallMs: count,
  cpuMs: count,
  memoryPeakBytes: count,
  queuedMs: count,
  outputBytes: count,
})
const limitName = z.enum(limitNames)
const networkReport = z.strictObject({
  hosts: z.array(
    z.strictObject({
      host: z.string(),
      port: count,
      connections: count,
      sentBytes: count,
      receivedBytes: count,
    }),
  ),
  refused: z.array(
    z.strictObject({
      host: z.string(),
      port: count.optional(),
      reason: z.string(),
      missingRule: z.string().optional(),
      count,
    }),
  ),
  unlisted: count,
  wouldAllow: z.array(z.string()),
})
const receipt = z.strictObject({
  start: z.enum(['cold', 'parked', 'forked']),
  runtime: z.enum(runtimeNames),
  interpreter: z
    .strictObject({ path: z.string(), version: z.string().optional(), because: z.string() })
    .optional(),
  protection: z.string(),
  layers: z.array(z.string()),
  limits: z.record(limitName, z.strictObject({ value: count.nullable(), by: z.string() })),
  clamped: z.array(limitName),
  observed: texts,
  network: networkReport.optional(),
  signature: z.looseObject({ keyId: z.string(), value: z.string() }).optional(),
})
const runResult = z.strictObject({
  ok: z.boolean(),
  id: z.string(),
  outcome,
  value: z.unknown().optional(),
  valueText: z.string().optional(),
  displays: z.array(texts),
  files: z.record(z.string(), z.strictObject({ mime: z.string(), base64: z.string() })),
  executables: z.array(z.string()),
  folders: z.array(z.string()),
  missingFiles: z.array(
    z.strictObject({ reason: z.enum(missingReasons), count, paths: z.array(z.string()).max(10) }),
  ),
  logs: z.array(z.strictObject({ level: z.string(), text: z.string(), atMs: count })),
  stdout: z.string(),
  stderr: z.string(),
  truncated: z.array(z.string()),
  usage,
  receipt,
})
const execResult = z.strictObject({
  id: z.string(),
  success: z.boolean(),
  exitCode: z.int(),
  stdout: z.string(),
  stderr: z.string(),
  command: z.string(),
  duration: count,
  timestamp: z.string(),
  outcome,
  usage,
  truncated: z.array(z.string()),
  isolation: z.strictObject({
    space: z.enum(['user', 'secure']),
    level: z.string(),
    network: z.string(),
    note: z.string().optional(),
  }),
  touched: z.array(z.looseObject({})),
  receipt,
})

const codeResult = runResult.extend({
  context: z.string(),
  isStateKept: z.boolean(),
  note: z.string().optional(),
})
const contextLanguage = z.enum(contextLanguages)
const context = z.strictObject({
  id: z.string(),
  language: contextLanguage,
  cwd: z.string(),
  status: z.enum(['running', 'idle', 'gone']),
})
const contextRunRequest = z.strictObject({
  code: z.string(),
  timeout: z.number().nullable().optional(),
  /** Whether calls of `input()` are sent as events, and answered. */
  asks: z.boolean().optional(),
  signal: aborted.optional(),
})

const sandbox = z.strictObject({
  id: z.string(),
  isAlive: z.boolean(),
  isStuck: z.boolean(),
  limits: z.partialRecord(limitName, count.nullable()),
  clamped: z.array(z.looseObject({ limit: limitName })),
})
const session = z.strictObject({ id: z.string(), cwd: z.string() })
const process = z.strictObject({
  id: z.string(),
  pid: z.int(),
  command: z.string(),
  status: z.enum(['running', 'completed', 'failed', 'killed']),
  exitCode: z.int().optional(),
})
const fileInfo = z.strictObject({
  name: z.string(),
  path: z.string(),
  type: z.enum(['file', 'folder', 'symlink', 'fifo', 'socket', 'character-device', 'block-device']),
  bytes: count,
  mode: z.int(),
  modifiedMs: count,
  target: z.string().optional(),
  isNameable: z.boolean(),
})
const problem = z.strictObject({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  detail: z.string(),
  code: z.enum(Object.keys(errorTable)),
  kind: z.enum(['refusal', 'fault']),
  hint: z.string(),
  retryable: z.boolean(),
  retryAfterMs: count.optional(),
  findings: z.array(z.looseObject({})).optional(),
  requestId: z.string(),
})

export const schemas = {
  RunRequest: runRequest,
  CallAnswer: z.strictObject({
    value: z.unknown().optional(),
    error: z.strictObject({ name: z.string(), message: z.string() }).optional(),
  }),
  SandboxRequest: sandboxRequest,
  ExecRequest: execRequest,
  Variables: z.record(z.string(), z.string().nullable()),
  SessionRequest: z.strictObject({
    id: z.string().optional(),
    env: texts.optional(),
    cwd: z.string().optional(),
  }),
  ProcessRequest: processRequest,
  SignalRequest: z.strictObject({ signal: z.string().optional() }),
  StdinRequest: z.strictObject({ data: bytes.optional(), close: z.boolean().optional() }),
  TerminalSize: size,
  PortRequest: z.strictObject({ port: z.int() }),
  WaitRequest: z.strictObject({
    port: z.int().optional(),
    log: z
      .union([z.string(), z.strictObject({ source: z.string(), flags: z.string().optional() })])
      .optional(),
    timeout: count.optional(),
  }),
  MoveRequest: z.strictObject({ from: z.string(), to: z.string() }),
  ContextRequest: z.strictObject({
    id: z.string().optional(),
    language: contextLanguage.optional(),
    cwd: z.string().optional(),
    limits: z.strictObject({ memoryBytes: count.optional() }).optional(),
  }),
  CompleteRequest: z.strictObject({ text: z.string() }),
  ForkRequest: z.strictObject({ id: z.string().optional() }),
  ContextRunRequest: contextRunRequest,
  CodeRequest: contextRunRequest.extend({ language: contextLanguage.optional() }),
  CodeExecutionRequest: z.strictObject({
    code: z.string(),
    language: z.enum(['javascript', 'typescript']),
    inputData: z.unknown().optional(),
    timeoutSeconds: count.optional(),
    memoryLimitMB: count.optional(),
  }),
  SnippetRequest: z.looseObject({ source: z.string() }),
  RunResult: runResult,
  ExecResult: execResult,
  SnippetResult: z.strictObject({
    output: z.string().optional(),
    error: z.strictObject({ code: z.string(), message: z.string() }).optional(),
  }),
  CodeResult: codeResult,
  CodeExecutionResult: z.strictObject({
    success: z.boolean(),
    output: z.unknown().optional(),
    logs: z.array(z.string()).optional(),
    error: z.string().optional(),
    errorType: z.string().optional(),
    executionTimeMs: count.optional(),
    warnings: z.array(z.string()).optional(),
  }),
  Context: context,
  Contexts: z.strictObject({ contexts: z.array(context) }),
  Completed: z.strictObject({ matches: z.array(z.string()).max(100) }),
  Interrupted: z.strictObject({ interrupted: z.boolean() }),
  Sandbox: sandbox,
  Sandboxes: z.strictObject({ sandboxes: z.array(sandbox) }),
  Session: session,
  Process: process,
  Processes: z.strictObject({ processes: z.array(process) }),
  Port: z.strictObject({ port: z.int(), url: z.string() }),
  Killed: z.strictObject({ killed: z.union([z.boolean(), z.int()]) }),
  Logs: z.strictObject({
    stdout: z.string(),
    stderr: z.string(),
    truncated: z.array(z.enum(['stdout', 'stderr'])).optional(),
  }),
  Waited: z.strictObject({ exitCode: z.int().optional(), line: z.string().optional() }),
  File: z.union([fileInfo, z.strictObject({ entries: z.array(fileInfo), isComplete: z.boolean() })]),
  Uploaded: z.strictObject({ entries: z.int(), bytes: count }),
  Stats: z.strictObject({
    running: z.int(),
    waiting: z.int(),
    pools: z.array(z.looseObject({})),
    held: z.strictObject({ bytes: count, bytesMax: count, kinds: z.record(z.string(), count) }),
  }),
  Probe: z.looseObject({ level: z.string(), layers: z.array(z.looseObject({})) }),
  OpenApi: z.looseObject({ openapi: z.string() }),
  Problem: problem,
  ...eventSchemas,
} as const satisfies Record<string, z.ZodType>

export type SchemaName = keyof typeof schemas
