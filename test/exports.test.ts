/** The public API: every name and path that users may rely on. A change here is a change for them. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import * as actorEntry from '../src/adapters/actor/index.ts'
import * as agentEntry from '../src/adapters/agent/index.ts'
import * as clientEntry from '../src/adapters/client/index.ts'
import * as entry from '../src/index.ts'
import * as codeExecutionEntry from '../src/adapters/code-execution/index.ts'
import * as snippetEntry from '../src/adapters/snippet-tool/index.ts'
import * as metricsEntry from '../src/observe/metrics/index.ts'
import * as observeEntry from '../src/observe/index.ts'
import * as tracesEntry from '../src/observe/traces/index.ts'
import { checkoutRoot, readText } from './support/sources/checkout.ts'

const values = ['LazaretError', 'Unserializable', 'createLazaret']
const types = [
  'Access',
  'AuditOptions',
  'BreakerOptions',
  'Clamp',
  'CloseOptions',
  'CodeContext',
  'CodeContextOptions',
  'CodeResult',
  'CodeWork',
  'CommandWork',
  'ContextLanguage',
  'ContextWork',
  'CopiedFolder',
  'Digest',
  'DisplayFacts',
  'DownloadTarOptions',
  'EdgeSecret',
  'EdgeSecrets',
  'ErrorCode',
  'ExecEvent',
  'ExecOptions',
  'ExecResult',
  'ExposePortOptions',
  'ExposedPort',
  'FileDocument',
  'FileEncoding',
  'FileInfo',
  'FileListing',
  'FileOperation',
  'FileType',
  'FilesWork',
  'Finding',
  'FolderOptions',
  'FolderProgress',
  'ForkOptions',
  'FoundBy',
  'FunctionCall',
  'GuestError',
  'HeldKind',
  'HeldStats',
  'HostFunction',
  'Interpreter',
  'Isolation',
  'JupyterOptions',
  'JupyterServer',
  'Language',
  'Lazaret',
  'LazaretEvent',
  'LazaretOptions',
  'LazaretStats',
  'LimitMechanism',
  'LimitName',
  'Limits',
  'ListFilesOptions',
  'LogEntry',
  'MimeBundle',
  'MissingFiles',
  'MissingReason',
  'Network',
  'NetworkKind',
  'NetworkMode',
  'NetworkPolicy',
  'NetworkRefusal',
  'NetworkReport',
  'NetworkTotals',
  'OnAuditFailure',
  'Outcome',
  'OutputChunk',
  'PackageFolders',
  'PoolSize',
  'PoolSizes',
  'PoolStats',
  'PortWork',
  'Preload',
  'ProbeLayer',
  'ProbeReport',
  'ProbeToolchain',
  'ProcessOptions',
  'ProcessStatus',
  'Protection',
  'ProtectionLevel',
  'QueueOptions',
  'RateOptions',
  'ReachedHost',
  'ReadFileOptions',
  'Realm',
  'Receipt',
  'ReceiptOptions',
  'RefusalReason',
  'ResultDocument',
  'ResultImage',
  'RunCodeOptions',
  'RunData',
  'RunRequest',
  'RunResult',
  'RunSpec',
  'RunWork',
  'RuntimeName',
  'Sandbox',
  'SandboxLimits',
  'SandboxOptions',
  'SandboxProcess',
  'SandboxSession',
  'SandboxWork',
  'SecretPlace',
  'SessionOptions',
  'SignalName',
  'Signature',
  'SignedStatement',
  'SkippedFile',
  'StartKind',
  'StatedValidation',
  'Statement',
  'TarSource',
  'TerminalSize',
  'ToTextOptions',
  'Truncatable',
  'UploadTarOptions',
  'UploadedTar',
  'Usage',
  'ValidationWork',
  'Variables',
  'WaitOptions',
  'WarmUpRequest',
  'WarmUpWork',
  'Work',
  'WorkEnd',
  'WorkKind',
  'WriteFileOptions',
]

/** The exports of the other entries. */
const doors = [
  {
    name: 'lazaret/actor',
    path: 'src/adapters/actor/index.ts',
    entry: actorEntry,
    values: ['MessageRouter', 'SubprocessCodeExecutionActor', 'WorkerCodeExecutionActor'],
    types: [
      'Actor',
      'CodeExecutionActorOptions',
      'ExecutePayload',
      'ExecutionPayload',
      'Message',
      'MessageResponse',
    ],
  },
  {
    name: 'lazaret/agent',
    path: 'src/adapters/agent/index.ts',
    entry: agentEntry,
    values: [
      'CircuitBreaker',
      'ExecutionMonitor',
      'ExecutionPool',
      'InputValidator',
      'RateLimiter',
      'SubprocessExecutor',
      'createAgentExecutor',
      'retry',
      'toMetadata',
    ],
    types: [
      'AgentExecution',
      'AgentExecutor',
      'AgentExecutorOptions',
      'AgentMetadata',
      'AgentResult',
      'AllowedImports',
      'Asking',
      'BreakerOptions',
      'CircuitBreakerOptions',
      'ExecutionMonitorOptions',
      'ExecutionPoolOptions',
      'Finding',
      'InputValidatorOptions',
      'MonitorAlert',
      'MonitorSnapshot',
      'PhaseName',
      'RateAnswer',
      'RateLimiterOptions',
      'RateOptions',
      'RetryOptions',
      'RiskLevel',
      'RunsCode',
      'RunsPrograms',
      'Submission',
      'SubprocessExecution',
      'SubprocessExecutorOptions',
      'SubprocessLimits',
      'SubprocessMetadata',
      'SubprocessResult',
      'TimeoutEvent',
      'Try',
      'ValidatedLanguage',
      'Validation',
      'ValidationMode',
      'ValidationOptions',
    ],
  },
  {
    name: 'lazaret/client',
    path: 'src/adapters/client/index.ts',
    entry: clientEntry,
    values: ['LazaretError', 'Unserializable', 'connectLazaret'],
    types: [
      'ConnectOptions',
      'ProcessState',
      'RemoteCodeParams',
      'RemoteContext',
      'RemoteContextOptions',
      'RemoteFiles',
      'RemoteLazaret',
      'RemotePort',
      'RemoteProcess',
      'RemoteSandbox',
      'RemoteSession',
      'RemoteTerminal',
      'TerminalOptions',
    ],
  },
  {
    name: 'lazaret/code-execution',
    path: 'src/adapters/code-execution/index.ts',
    entry: codeExecutionEntry,
    values: [
      'CodeExecutionService',
      'WorkerPool',
      'getAllowedModuleNames',
      'getLibrarySource',
      'isModuleAllowed',
    ],
    types: [
      'CodeAction',
      'CodeExecutionErrorType',
      'CodeExecutionParams',
      'CodeExecutionResult',
      'PoolStats',
      'SlotEvent',
      'WorkerPoolOptions',
    ],
  },
  {
    name: 'lazaret/metrics',
    path: 'src/observe/metrics/index.ts',
    entry: metricsEntry,
    values: ['LazaretMetrics'],
    types: ['MeasuredLazaret'],
  },
  {
    name: 'lazaret/observe',
    path: 'src/observe/index.ts',
    entry: observeEntry,
    values: ['ExecutionMonitor', 'canonicalJson', 'createReceiptKeys', 'verifyAudit', 'verifyReceipt'],
    types: [
      'AuditProblem',
      'AuditVerification',
      'ExecutionMonitorOptions',
      'MonitorAlert',
      'MonitorSnapshot',
      'ReceiptKeys',
      'ReceiptVerification',
      'VerifyAuditOptions',
    ],
  },
  {
    name: 'lazaret/traces',
    path: 'src/observe/traces/index.ts',
    entry: tracesEntry,
    values: ['traceWork'],
    types: [],
  },
  {
    name: 'lazaret/snippet',
    path: 'src/adapters/snippet-tool/index.ts',
    entry: snippetEntry,
    values: ['endSnippetThreads', 'runSnippet', 'snippetTool', 'warmUpSnippets'],
    types: [
      'SnippetError',
      'SnippetErrorCode',
      'SnippetLimits',
      'SnippetOptions',
      'SnippetRequest',
      'SnippetResult',
      'SnippetSchema',
      'SnippetTool',
    ],
  },
]

for (const door of [{ path: 'src/index.ts', entry, values, types }, ...doors])
  test(`${door.path} exports exactly these names`, () => {
    assert.deepEqual(Object.keys(door.entry).sort(), door.values)
    assert.deepEqual(exportedTypes(door.path), door.types)
  })

function exportedTypes(path: string): string[] {
  const lists = readText(path).matchAll(/^export type \{([^}]+)\}/gm)
  const exported = [...lists].flatMap(([, names = '']) =>
    names
      .split(',')
      .map((name) => name.trim())
      .filter(Boolean),
  )
  return exported.sort()
}

test('the package has these entries and one command', () => {
  const manifest = JSON.parse(readText('package.json')) as Record<string, unknown>
  assert.deepEqual(manifest['exports'], {
    '.': { types: './dist/index.d.ts', default: './dist/index.js' },
    './snippet': {
      types: './dist/adapters/snippet-tool/index.d.ts',
      default: './dist/adapters/snippet-tool/index.js',
    },
    './metrics': {
      types: './dist/observe/metrics/index.d.ts',
      default: './dist/observe/metrics/index.js',
    },
    './traces': {
      types: './dist/observe/traces/index.d.ts',
      default: './dist/observe/traces/index.js',
    },
    './observe': { types: './dist/observe/index.d.ts', default: './dist/observe/index.js' },
    './actor': { types: './dist/adapters/actor/index.d.ts', default: './dist/adapters/actor/index.js' },
    './agent': {
      types: './dist/adapters/agent/index.d.ts',
      default: './dist/adapters/agent/index.js',
    },
    './code-execution': {
      types: './dist/adapters/code-execution/index.d.ts',
      default: './dist/adapters/code-execution/index.js',
    },
    './client': { types: './dist/adapters/client/index.d.ts', default: './dist/adapters/client/index.js' },
    './package.json': './package.json',
  })
  assert.deepEqual(manifest['bin'], { lazaret: 'dist/adapters/cli/main.js' })
  assert.equal(manifest['type'], 'module')
})

test('a strict project finds the types of every name', () => {
  const project = mkdtempSync(join(tmpdir(), 'lazaret-consumer-'))
  try {
    mkdirSync(join(project, 'node_modules/@types'), { recursive: true })
    symlinkSync(checkoutRoot, join(project, 'node_modules/lazaret'))
    for (const name of ['@types/node', 'undici-types']) {
      symlinkSync(join(checkoutRoot, 'node_modules', name), join(project, 'node_modules', name))
    }
    writeFileSync(join(project, 'package.json'), '{"type":"module"}')
    writeFileSync(
      join(project, 'tsconfig.json'),
      JSON.stringify({ compilerOptions: consumerOptions, files: ['use.ts'] }),
    )
    writeFileSync(join(project, 'use.ts'), consumer)
    const tsc = join(checkoutRoot, 'node_modules/typescript/bin/tsc')
    const checked = spawnSync(process.execPath, [tsc, '-p', project], { encoding: 'utf8' })
    assert.equal(checked.stdout + checked.stderr, '')
    assert.equal(checked.status, 0)
  } finally {
    rmSync(project, { recursive: true, force: true })
  }
})

/** skipLibCheck is off, so that the declarations themselves are checked. */
const consumerOptions = {
  target: 'es2022',
  lib: ['es2022', 'esnext.disposable'],
  module: 'nodenext',
  types: ['node'],
  strict: true,
  exactOptionalPropertyTypes: true,
  noEmit: true,
}

/** Several entries may export the same name. */
function unlessTaken(word: string, entryName: string): string {
  const before = doors.slice(
    0,
    doors.findIndex(({ name }) => name === entryName),
  )
  const isTaken = [{ values, types }, ...before].some((door) =>
    [...door.values, ...door.types].includes(word),
  )
  return isTaken ? `${word} as ${word}_${entryName.replaceAll(/\W/g, '_')}` : word
}

const importAll = (
  name: string,
  door: { readonly values: readonly string[]; readonly types: readonly string[] },
): string => `
import { ${door.values.map((value) => unlessTaken(value, name)).join(', ')} } from '${name}'
import type { ${door.types.map((type) => unlessTaken(type, name)).join(', ')} } from '${name}'
export type All_${name.replaceAll(/[-/]/g, '_')} = [${door.types.join(', ')}]`

const consumer = `
import { ${values.join(', ')} } from 'lazaret'
import type { ${types.join(', ')} } from 'lazaret'
${doors.map(({ name, ...door }) => importAll(name, door)).join('')}
export const compute = (source: string): Promise<SnippetResult> => runSnippet({ source })
export const toolName: string = snippetTool.name
export type All = [${types.join(', ')}]
export async function use(request: RunRequest): Promise<string> {
  await using lazaret: Lazaret = createLazaret({ ceilings: { wallMs: 1000 } })
  const { outcome, receipt }: RunResult = await lazaret.run(request)
  switch (outcome.kind) {
    case 'completed': return String(outcome.exitCode)
    case 'failed': return outcome.error.message
    default: return receipt.protection
  }
}
export async function ask(message: Message): Promise<unknown> {
  await using actor: Actor & AsyncDisposable = new SubprocessCodeExecutionActor(new MessageRouter(), 5000)
  const { success, error, payload }: MessageResponse = await actor.receive(message)
  return success ? payload?.result : error
}
// @ts-expect-error: a language that does not exist
export const wrong: Language = 'cobol'
export const isOurs = (error: unknown): error is LazaretError => error instanceof LazaretError
`
