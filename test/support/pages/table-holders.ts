/**
 * Every table of the pages, and what keeps it correct: a test that compares it, names in the code, or the reason why
 * neither can.
 */
import { sectionNames } from '../../../bench/sections.ts'
import { phaseNames } from '../../../src/adapters/agent/agent-types.ts'
import { inputSchema, outputSchema } from '../../../src/adapters/mcp/tool-schemas.ts'
import { errorTable } from '../../../src/core/errors/errors.ts'
import { limitNames } from '../../../src/core/limits.ts'
import { protectionLevels } from '../../../src/core/protection.ts'
import { validationModes } from '../../../src/core/validation.ts'
import { listFiles, readText } from '../sources/checkout.ts'
import { literalsOf, membersOf } from './read-tables.ts'

export type Holder =
  /** A test that reads the page. */
  | { readonly test: string }
  /** The names in backticks in a column are exactly these, or, with `some`, a part of these. */
  | { readonly names: readonly string[]; readonly column?: number; readonly some?: true }
  /** The texts in backticks in these columns are files below one of these folders. */
  | { readonly files: readonly number[]; readonly below: readonly string[] }
  /** Nothing in it comes from the code, for this reason. */
  | { readonly reason: string }

const prose = { reason: 'it compares in words; what it names is in other tables' }
const measured = { reason: 'measured by hand; the page says when, where and how' }
const tried = (test: string) => ({ reason: `rules in words; ${test} tries them` })

const agentOptions = [
  ...membersOf('src/adapters/agent/agent-types.ts', 'AgentExecutorOptions'),
  ...membersOf('src/adapters/agent/subprocess-executor.ts', 'SubprocessLimits'),
].filter((name) => name !== 'clock')

const workKinds = [...readText('src/core/work.ts').matchAll(/^ {2}readonly kind: (.*)$/gm)].flatMap(
  ([, kinds = '']) => [...kinds.matchAll(/'([^']+)'/g)].map(([, kind = '']) => kind),
)

const agentExports = [...readText('src/adapters/agent/index.ts').matchAll(/^export \{ (.*) \}/gm)].flatMap(
  ([, names = '']) => names.split(', '),
)

const fuzzTargets = listFiles('native/fuzz', ['.c'])
  .map((path) => /target-(\w+)\.c$/.exec(path)?.[1] ?? '')
  .filter((name) => name !== '')

const processCalls = [
  ...membersOf('src/sandbox/processes/processes.ts', 'SandboxProcess'),
  ...[...readText('src/sandbox/sandbox.ts').matchAll(/^ {2}(?:async )?(\w+)\(/gm)].map(
    ([, name = '']) => name,
  ),
]

/** Headings of the threat model, each with a table of vectors. */
const threatAreas = [
  'Processes and time',
  'Memory, disk and output',
  'Files',
  'Sandboxes',
  "The kernel's surface",
  'The network',
  'Results and messages',
  'Ids, launchers and warm workers',
  'Engines',
]

export const tableHolders: Readonly<Record<string, Holder>> = {
  'README.md › Which API › You need': { test: 'test/page-table-names.test.ts' },
  'README.md › Protection levels › Level': { test: 'test/page-tables.test.ts' },
  'README.md › Speed › A trivial program, p50 in ms': { test: 'test/page-table-names.test.ts' },
  'ARCHITECTURE.md › The life of a run › Folder': { test: 'test/page-table-names.test.ts' },
  'ARCHITECTURE.md › Limits and layers › in': { files: [1], below: ['src', 'native'] },
  'ARCHITECTURE.md › Who trusts what › is trusted with': prose,
  'ARCHITECTURE.md › Invariants › #': { files: [2, 3], below: ['src', 'native', 'test'] },
  'CONTRIBUTING.md › Contributing › Tier': { test: 'test/page-table-names.test.ts' },
  'CONTRIBUTING.md › Contributing › While you work': { test: 'test/page-table-names.test.ts' },
  'SECURITY.md › Supported versions › Version': { test: 'test/page-table-names.test.ts' },
  ...Object.fromEntries(
    threatAreas.map((area) => [
      `THREAT_MODEL.md › ${area} › Vector`,
      { files: [2, 3], below: ['src', 'native', 'test'] },
    ]),
  ),
  'THREAT_MODEL.md › What the MCP server adds › Vector': { files: [2, 3], below: ['src', 'test'] },
  'THREAT_MODEL.md › The HTTP API › Vector': { files: [2, 3], below: ['src', 'test'] },
  'THREAT_MODEL.md › What differs between the levels › `strong`': prose,
  'bench/README.md › What is measured › Section': { names: sectionNames },
  'bench/README.md › Rivals › Rival': prose,
  'docs/guide/actors.md › Which actor › Actor': prose,
  'docs/guide/actors.md › Messages › Key of the answer': {
    names: [
      ...membersOf('src/adapters/actor/message.ts', 'ResponseNames'),
      ...['success', 'payload', 'error'],
    ],
  },
  'docs/guide/actors.md › Security findings › Finding': { test: 'test/page-table-names.test.ts' },
  'docs/guide/agent-executor.md › What happens to an execution › Phase': { names: phaseNames },
  'docs/guide/agent-executor.md › What happens to an execution › Option': { names: agentOptions },
  'docs/guide/agent-executor.md › The parts › Part': {
    names: agentExports.filter((name) => name !== 'createAgentExecutor'),
  },
  'docs/guide/agent-executor.md › Validation › Level': {
    names: literalsOf('src/core/validation.ts', 'RiskLevel'),
  },
  'docs/guide/agent-executor.md › Rules › Rule': { test: 'test/policy/validation/input-validator.test.ts' },
  'docs/operate/audit.md › The audit log › Field': {
    names: membersOf('src/core/receipt.ts', 'Statement').filter((name) => name !== 'version'),
  },
  'docs/operate/cli.md › Commands › Command': { test: 'test/page-tables.test.ts' },
  'docs/operate/cli.md › Options › Option': { test: 'test/page-tables.test.ts' },
  'docs/reference/compatibility.md › What differs › What': { test: 'test/compatibility/page.test.ts' },
  'docs/reference/compatibility.md › In a sandbox › What': prose,
  "docs/reference/compatibility.md › CPython's own tests › Run": { test: 'test/compatibility/page.test.ts' },
  'docs/reference/compatibility.md › Which of them differ › Module': {
    test: 'test/compatibility/page.test.ts',
  },
  'docs/operate/configuration.md › Options › Option': { test: 'test/page-tables.test.ts' },
  'docs/operate/configuration.md › Which file counts › File': tried(
    'test/adapters/cli/configuration/configuration.test.ts',
  ),
  'docs/operate/configuration.md › Who may own a file › Owned by another user, or in a place that others can write':
    tried('test/adapters/cli/configuration/configuration.test.ts'),
  'docs/decisions/0001-compile-inside-the-cell.md › Context › Source': measured,
  'docs/decisions/0003-dependencies.md › With the package › Package': { test: 'test/dependencies.test.ts' },
  'docs/decisions/0003-dependencies.md › In the bundle › Package': { test: 'test/dependencies.test.ts' },
  'docs/decisions/0003-dependencies.md › Optional › Package': { test: 'test/dependencies.test.ts' },
  'docs/decisions/0003-dependencies.md › For working on it › Package': { test: 'test/dependencies.test.ts' },
  'docs/guide/contexts.md › Code contexts › ': tried('test/sandbox/contexts/contexts.test.ts'),
  'docs/guide/contexts.md › Code contexts › Field': {
    names: ['context', 'isStateKept', 'note'],
  },
  'docs/operate/deployment.md › Deployment › Where': { names: protectionLevels, column: 1, some: true },
  'docs/reference/errors.md › Outcomes › `outcome.kind`': { test: 'test/page-tables.test.ts' },
  'docs/reference/errors.md › Errors › `error.code`': { test: 'test/page-tables.test.ts' },
  'docs/reference/errors.md › Other exit codes › Exit code': { test: 'test/page-tables.test.ts' },
  'docs/internals/extending.md › Extending Lazaret › To add': { test: 'test/page-table-names.test.ts' },
  'docs/guide/functions.md › For the caller › Limit': { names: limitNames, some: true },
  'docs/guide/isolates.md › Isolates › isolate': prose,
  'docs/guide/isolates.md › The service › Parameter': {
    names: membersOf('src/adapters/code-execution/types.ts', 'CodeExecutionParams'),
  },
  'docs/guide/isolates.md › The service › `errorType`': {
    names: literalsOf('src/adapters/code-execution/types.ts', 'CodeExecutionErrorType'),
  },
  'docs/internals/launcher.md › Memory and its bounds › Where': { test: 'test/page-tables.test.ts' },
  'docs/internals/launcher.md › Fuzz targets › Target': { names: fuzzTargets },
  'docs/internals/launcher.md › Fuzz targets › To do': { test: 'test/page-table-names.test.ts' },
  'docs/internals/launcher.md › Results › Target': measured,
  'docs/internals/layers.md › Layers › Layer': { test: 'test/jail/layers/layers.test.ts' },
  'docs/internals/layers.md › Levels › Level': { test: 'test/page-tables.test.ts' },
  'docs/reference/limits.md › Values › Limit': { test: 'test/page-tables.test.ts' },
  'docs/reference/limits.md › What enforces each limit › Limit': { test: 'test/page-tables.test.ts' },
  'docs/operate/http.md › Bounds › Name': { test: 'test/page-tables.test.ts' },
  'docs/operate/http.md › Routes › Route': { test: 'test/page-tables.test.ts' },
  'docs/operate/mcp.md › Connecting a client › Client': {
    reason: 'it has the files and commands of other programs',
  },
  'docs/operate/mcp.md › Over HTTP › Bound': { test: 'test/page-tables.test.ts' },
  'docs/operate/mcp.md › Sandboxes › Tool': tried('test/adapters/mcp/sandboxes.test.ts'),
  'docs/operate/mcp.md › The tools › Argument': { names: Object.keys(inputSchema.shape) },
  'docs/operate/mcp.md › The tools › Field': { names: Object.keys(outputSchema.shape) },
  'docs/operate/mcp.md › The tools › `--validation`': { names: validationModes },
  'docs/guide/networks.md › What is masked › Masked': tried('test/jail/edge/masked-forms.test.ts'),
  'docs/guide/networks.md › Rules › A rule of `allow` or `deny`': prose,
  'docs/guide/networks.md › Rules › Option': {
    names: membersOf('src/core/network.ts', 'NetworkPolicy'),
    some: true,
  },
  'docs/guide/networks.md › What you see › Reason': {
    names: literalsOf('src/core/network.ts', 'RefusalReason'),
  },
  'docs/guide/packages.md › Packages › Option': {
    names: membersOf('src/runtimes/packages/guest-packages.ts', 'PackageFolders'),
  },
  'docs/operate/policy.md › What a request may ask for › `access`': {
    names: membersOf('src/policy/access.ts', 'Access'),
  },
  'docs/operate/policy.md › How much runs at one time › `queue`': {
    names: membersOf('src/policy/room-size.ts', 'QueueOptions'),
  },
  'docs/operate/policy.md › How often, and after failures › Option': prose,
  'docs/operate/policy.md › `admit`: your own decision › `work.kind`': { names: workKinds },
  'docs/guide/python.md › Values › Value': tried('test/runtimes/python'),
  'docs/guide/python.md › Packages › Where they are': prose,
  'docs/guide/results.md › The program › JavaScript, TypeScript': prose,
  'docs/guide/results.md › Output and lists › List': {
    names: membersOf('src/core/result.ts', 'RunData'),
    some: true,
  },
  'docs/guide/sandboxes.md › Commands › Field of the result': {
    names: membersOf('src/sandbox/types.ts', 'ExecResult'),
  },
  'docs/guide/sandboxes.md › Variables › Option': prose,
  'docs/guide/sandboxes.md › Sessions › Kept from command to command': prose,
  'docs/guide/sandboxes.md › Processes › ': { names: processCalls, some: true },
  'docs/guide/sandboxes.md › Limits › Limit': { names: [...limitNames, 'timeout', 'exec()'], some: true },
  'docs/guide/sandboxes.md › Errors › `error.code`': { names: Object.keys(errorTable), some: true },
  'docs/guide/secrets.md › What such a command has › ': prose,
  'docs/guide/secrets.md › Who could see the value › Where an attacker looks': {
    files: [2],
    below: ['test'],
  },
  'docs/guide/secrets.md › Deliberate differences › Usual': prose,
  'docs/guide/snippets.md › The request › Field': {
    names: membersOf('src/adapters/snippet-tool/snippet-types.ts', 'SnippetRequest'),
  },
  'docs/guide/snippets.md › Errors › `error.code`': {
    names: literalsOf('src/adapters/snippet-tool/snippet-types.ts', 'SnippetErrorCode'),
  },
  "docs/guide/values.md › Into the guest and back › The caller's value": {
    test: 'test/contracts/values.test.ts',
  },
  'docs/guide/values.md › From Python › Python': { test: 'test/contracts/values.test.ts' },
  'docs/guide/values.md › From Bun and Node › JavaScript in the guest': {
    test: 'test/contracts/values.test.ts',
  },
  'docs/guide/values.md › Bounds › Bound': prose,
  'profiles/README.md › Profiles › File': { files: [0], below: ['profiles'] },
  'docs/operate/warm-runs.md › What forks share › `forks`': tried(
    'test/escape/siblings/learn-from-siblings.test.ts',
  ),
  'docs/operate/warm-runs.md › Warm runs › `receipt.start`': {
    names: literalsOf('src/core/receipt.ts', 'StartKind'),
  },
  'docs/operate/warm-runs.md › What workers cost › Worker': measured,
}

/** Pages on which every table has one shape, compared by one test. */
export const pageHolders: Readonly<Record<string, string>> = {
  'docs/reference/attacks.md': 'test/attacks.test.ts',
  'docs/internals/kernel-surface.md': 'test/jail/seccomp/allow-lists.test.ts',
  'docs/internals/shared-objects.md': 'test/shared-objects.test.ts',
}
