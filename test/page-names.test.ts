/**
 * Tables of pages that list names of the code, such as the members of a type, have exactly these names. Files, folders
 * and npm scripts that pages name exist.
 */
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

import { sectionNames } from '../bench/sections.ts'
import { phaseNames } from '../src/adapters/agent/agent-types.ts'
import { inputSchema, outputSchema } from '../src/adapters/mcp/tool-schemas.ts'
import { errorTable } from '../src/core/errors/errors.ts'
import { limitNames } from '../src/core/limits.ts'
import { protectionLevels } from '../src/core/protection.ts'
import { validationModes } from '../src/core/validation.ts'
import { cellsOf } from './support/pages/page-tables.ts'
import { checkoutRoot, listFiles, readText } from './support/sources/checkout.ts'

interface Names {
  /** In backticks in a column, or alone in the cell. It is the first column unless this says otherwise. */
  readonly names: readonly string[]
  readonly column?: number
  /** The table has only some of them. */
  readonly some?: true
}

const fuzzTargets = listFiles('native/fuzz', ['.c'])
  .map((path) => /target-(\w+)\.c$/.exec(path)?.[1] ?? '')
  .filter((name) => name !== '')

const agentOptions = [
  ...membersOf('src/adapters/agent/agent-types.ts', 'AgentExecutorOptions'),
  ...membersOf('src/adapters/agent/subprocess-executor.ts', 'SubprocessLimits'),
].filter((name) => name !== 'clock')

const agentExports = matches('src/adapters/agent/index.ts', /^export \{ (.*) \}/gm)
  .flatMap((names) => names.split(', '))
  .filter((name) => name !== 'createAgentExecutor')

const processCalls = [
  ...membersOf('src/sandbox/processes/processes.ts', 'SandboxProcess'),
  ...matches('src/sandbox/sandbox.ts', /^ {2}(?:async )?(\w+)\(/gm),
]

const workKinds = matches('src/core/work.ts', /^ {2}readonly kind: (.*)$/gm).flatMap((kinds) =>
  [...kinds.matchAll(/'([^']+)'/g)].map(([, kind = '']) => kind),
)

const findings = matches('test/escape/engines/known-findings-of-actors.test.ts', /'(CE-\d+): /g)

/** By page, heading, and the first word of the header, because a heading may have several tables. */
const tablesOfNames: Readonly<Record<string, Names>> = {
  'bench/README.md › What is measured › Section': { names: sectionNames },
  'docs/guide/actors.md › Messages › Key of the answer': {
    names: [
      ...membersOf('src/adapters/actor/message.ts', 'ResponseNames'),
      ...['success', 'payload', 'error'],
    ],
  },
  'docs/guide/actors.md › Security findings › Finding': { names: findings },
  'docs/guide/agent-executor.md › What happens to an execution › Phase': { names: phaseNames },
  'docs/guide/agent-executor.md › What happens to an execution › Option': { names: agentOptions },
  'docs/guide/agent-executor.md › The parts › Part': { names: agentExports },
  'docs/guide/agent-executor.md › Validation › Level': {
    names: literalsOf('src/core/validation.ts', 'RiskLevel'),
  },
  'docs/guide/contexts.md › Code contexts › Field': { names: ['context', 'isStateKept', 'note'] },
  'docs/guide/functions.md › For the caller › Limit': { names: limitNames, some: true },
  'docs/guide/isolates.md › The service › Parameter': {
    names: membersOf('src/adapters/code-execution/types.ts', 'CodeExecutionParams'),
  },
  'docs/guide/isolates.md › The service › `errorType`': {
    names: literalsOf('src/adapters/code-execution/types.ts', 'CodeExecutionErrorType'),
  },
  'docs/guide/isolates.md › Options › Option': {
    names: membersOf('src/adapters/code-execution/types.ts', 'WorkerPoolOptions'),
  },
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
  'docs/guide/results.md › Output and lists › List': {
    names: membersOf('src/core/result.ts', 'RunData'),
    some: true,
  },
  'docs/guide/sandboxes.md › Commands › Field of the result': {
    names: membersOf('src/sandbox/types.ts', 'ExecResult'),
  },
  'docs/guide/sandboxes.md › Processes › ': { names: processCalls, some: true },
  'docs/guide/sandboxes.md › Limits › Limit': { names: [...limitNames, 'timeout', 'exec()'], some: true },
  'docs/guide/sandboxes.md › Errors › `error.code`': { names: Object.keys(errorTable), some: true },
  'docs/guide/snippets.md › The request › Field': {
    names: membersOf('src/adapters/snippet-tool/snippet-types.ts', 'SnippetRequest'),
  },
  'docs/guide/snippets.md › Errors › `error.code`': {
    names: literalsOf('src/adapters/snippet-tool/snippet-types.ts', 'SnippetErrorCode'),
  },
  'docs/internals/launcher.md › Fuzz targets › Target': { names: fuzzTargets },
  'docs/operate/audit.md › The audit log › Field': {
    names: membersOf('src/core/receipt.ts', 'Statement').filter((name) => name !== 'version'),
  },
  'docs/operate/deployment.md › Deployment › Where': { names: protectionLevels, column: 1, some: true },
  'docs/operate/mcp.md › The tools › Argument': { names: Object.keys(inputSchema.shape) },
  'docs/operate/mcp.md › The tools › Field': { names: Object.keys(outputSchema.shape) },
  'docs/operate/mcp.md › The tools › `--validation`': { names: validationModes },
  'docs/operate/policy.md › What a request may ask for › `access`': {
    names: membersOf('src/policy/access.ts', 'Access'),
  },
  'docs/operate/policy.md › How much runs at one time › `queue`': {
    names: membersOf('src/policy/room-size.ts', 'QueueOptions'),
  },
  'docs/operate/policy.md › How often, and after failures › `breaker`': {
    names: membersOf('src/policy/circuit-breaker.ts', 'BreakerOptions'),
  },
  'docs/operate/policy.md › `admit`: your own decision › `work.kind`': { names: workKinds },
  'docs/operate/warm-runs.md › Warm runs › `receipt.start`': {
    names: literalsOf('src/core/receipt.ts', 'StartKind'),
  },
}

const tables = listFiles('', ['.md']).flatMap(tablesOf)

for (const [name, { names, column = 0, some = false }] of Object.entries(tablesOfNames))
  test(`${name}: the names are those of the code`, () => {
    const rows = tables.filter((table) => table.name === name).flatMap((table) => table.rows)
    assert.ok(rows.length > 0 && names.length > 0)
    // A row without backticks is about nothing, except in a table with a part of the names.
    const named = ([...cells]: readonly string[]) => quotedIn(cells[column] ?? '').map(bareName)
    const quoted = new Set(
      rows.flatMap((row) => (some || named(row).length > 0 ? named(row) : [row[column] ?? ''])),
    )
    assert.deepEqual([...quoted].filter((one) => !names.includes(one)).toSorted(), [])
    if (some) return
    assert.deepEqual(
      names.filter((one) => !quoted.has(one)),
      [],
    )
  })

/** Names of files of ours: with a folder and an extension. Others are a user's, such as `main.py`. */
const ofFile = /^(?!~?\/|\.|dist\/)[\w.-]+(?:\/[\w.-]+)*\/[\w.-]+\.(?:ts|c|h|py|md|json)$/

/** Files of examples. */
const notOurs = ['a/index.ts', 'src/runtimes/dash/host.ts']

const paths = listFiles()
const isFile = (name: string) => paths.some((path) => path === name || path.endsWith(`/${name}`))

test('every file that a page names exists', () => {
  const named = listFiles('', ['.md'])
    .filter((page) => page !== 'CHANGELOG.md')
    .flatMap((page) => quotedIn(withoutBlocks(page)).map((name) => [page, name] as const))
    .filter(([, name]) => ofFile.test(name) && !notOurs.includes(name))
  assert.ok(named.length > 200)
  assert.deepEqual(
    named.filter(([, name]) => !isFile(name)).map(([page, name]) => `${page}: ${name}`),
    [],
  )
})

test('every test that a table names exists', () => {
  const named = tables.flatMap(({ name, head, rows }) => {
    const column = head.indexOf('Test')
    const cells = column < 0 ? [] : rows.map((row) => row[column] ?? '')
    // A dash, and the reason why there is none.
    return cells
      .filter((cell) => !cell.startsWith('—'))
      .flatMap((cell) => quotedIn(cell).map((one) => [name, one]))
  })
  assert.ok(named.length > 50)
  const isFolder = (one: string) => paths.some((path) => path.includes(`/${one}/`))
  assert.deepEqual(
    named.filter(([, one = '']) => !isFile(one) && !isFile(`${one}.test.ts`) && !isFolder(one)),
    [],
  )
})

test('every npm script that a page names exists', () => {
  const { scripts } = JSON.parse(readText('package.json')) as { readonly scripts: object }
  const named = listFiles('', ['.md']).flatMap((page) =>
    [...readText(page).matchAll(/`npm run (?:--silent |-s )?([\w:]+)/g)].map(([, name = '']) => [page, name]),
  )
  assert.ok(named.length > 30)
  assert.deepEqual(
    // `release` is a user's example.
    named.filter(([, name = '']) => name !== 'release' && !Object.hasOwn(scripts, name)),
    [],
  )
})

test("ARCHITECTURE's tables of folders are the folders", () => {
  const [stations, launcher] = tables
    .filter(({ name, head }) => name.startsWith('ARCHITECTURE.md') && head[0] === 'Folder')
    .map(({ rows }) => rows.map(([cell = '']) => quotedIn(cell)[0] ?? ''))
  const adapters = foldersOf('src/adapters').map((name) => `adapters/${name}`)
  const folders = foldersOf('src').filter((name) => name !== 'adapters')
  assert.deepEqual(stations?.toSorted(), [...adapters, ...folders].toSorted())
  assert.deepEqual(launcher?.toSorted(), foldersOf('native/cell').toSorted())
})

test('the supported version is that of the package', () => {
  const { version } = JSON.parse(readText('package.json')) as { readonly version: string }
  const [table] = tablesOf('SECURITY.md')
  assert.deepEqual(
    table?.rows.map(([supported]) => supported),
    [version.replace(/\d+$/, 'x')],
  )
})

interface Table {
  readonly name: string
  readonly head: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

function tablesOf(page: string): Table[] {
  const found: Table[] = []
  let heading = ''
  const lines = withoutBlocks(page).split('\n')
  for (const [index, line] of lines.entries()) {
    if (line.startsWith('#')) heading = line.replace(/^#+ /, '')
    if (!/^\|[\s:|-]*-[\s:|-]*$/.test(line)) continue
    const below = lines.slice(index + 1)
    const end = below.findIndex((row) => !row.startsWith('|'))
    const head = cellsOf(lines[index - 1] ?? '')
    found.push({
      name: [page, heading, head.find((cell) => cell !== '') ?? ''].join(' › '),
      head,
      rows: below.slice(0, end < 0 ? undefined : end).map(cellsOf),
    })
  }
  return found
}

function withoutBlocks(page: string): string {
  return readText(page).replace(/^```[^]*?^```/gm, '')
}

/** The texts in backticks. */
function quotedIn(text: string): string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name)
}

/** `retry(act)` → `retry`; `new RateLimiter()` → `RateLimiter`; `networks: ['none']` → `networks`. */
function bareName(text: string): string {
  if (/^[\w-]+$/.test(text) || text === 'exec()') return text
  return /^(?:new )?([\w-]+)\b/.exec(text)?.[1] ?? text
}

/** The members of an interface, without those that it inherits. Relies on the formatter's layout. */
function membersOf(file: string, name: string): string[] {
  const [, body = ''] =
    new RegExp(`interface ${name}\\b[^{]*\\{\\n([^]*?)^\\}`, 'm').exec(readText(file)) ?? []
  return [...body.matchAll(/^ {2}(?:readonly )?(\w+)\??[:(]/gm)].map(([, member = '']) => member)
}

/** The members of a union of string literals. */
function literalsOf(file: string, name: string): string[] {
  const [, union = ''] = new RegExp(`type ${name} =([^]*?)\\n(?:\\n|[a-z/])`).exec(readText(file)) ?? []
  return [...union.matchAll(/'([^']+)'/g)].map(([, text = '']) => text)
}

function matches(file: string, pattern: RegExp): string[] {
  return [...readText(file).matchAll(pattern)].map(([, text = '']) => text)
}

function foldersOf(path: string): string[] {
  const entries = readdirSync(join(checkoutRoot, path), { withFileTypes: true })
  return entries
    .filter((entry) => entry.isDirectory() && entry.name !== '__pycache__')
    .map(({ name }) => name)
}
