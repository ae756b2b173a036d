/** Every table of a page is generated, compared with the code, or has a reason why it cannot be. */
import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

import { createProgram } from '../src/adapters/cli/program.ts'
import { checkoutRoot, listFiles, readText } from './support/sources/checkout.ts'
import { allTables, nameOf, quotedIn, tablesOf } from './support/pages/read-tables.ts'
import type { Table } from './support/pages/read-tables.ts'
import { pageHolders, tableHolders } from './support/pages/table-holders.ts'

const manifest = JSON.parse(readText('package.json')) as {
  readonly version: string
  readonly exports: Readonly<Record<string, { readonly default?: string }>>
  readonly scripts: Readonly<Record<string, string>>
}
const tables = allTables()

test('every table has a test, and every test has its table', () => {
  const named = tables.filter(({ page }) => pageHolders[page] === undefined).map(nameOf)
  assert.deepEqual(
    [...new Set(named)].toSorted(),
    Object.keys(tableHolders).toSorted(),
    'test/support/pages/table-holders.ts',
  )
})

test('a test of a table reads the page', () => {
  const held = Object.entries(tableHolders).flatMap(([name, holder]) =>
    'test' in holder ? [[name.split(' › ')[0] ?? '', holder.test] as const] : [],
  )
  for (const [page, file] of [...held, ...Object.entries(pageHolders)]) {
    const support = ['page-tables.ts', 'page-figures.ts'].map((one) => `test/support/pages/${one}`)
    const texts = [file, ...(file === 'test/page-tables.test.ts' ? support : [])].map(readText)
    // A test may get the page from its own table, which then contains the name.
    const reads = file === 'test/page-table-names.test.ts' || texts.some((text) => text.includes(page))
    assert.ok(reads || readsItsFolder(file, page), `${file} does not read ${page}`)
  }
})

for (const table of tables) {
  const holder = tableHolders[nameOf(table)]
  if (holder === undefined || 'test' in holder || 'reason' in holder) continue
  test(`${nameOf(table)}: everything that it names is in the code`, () => {
    assert.ok(table.rows.length > 0)
    if ('files' in holder) {
      const missing = filesIn(table, holder.files).filter((path) => !isFile(path, holder.below))
      assert.deepEqual(missing, [])
      return
    }
    const { names, column = 0, some = false } = holder
    assert.ok(names.length > 0)
    const quoted = new Set(table.rows.flatMap((row) => quotedIn(row[column] ?? '').map(bareName)))
    assert.deepEqual(
      [...quoted].filter((name) => !names.includes(name)),
      [],
    )
    if (!some)
      assert.deepEqual(
        names.filter((name) => !quoted.has(name)),
        [],
      )
    // Every row must contain a name.
    assert.deepEqual(
      table.rows.filter((row) => !some && quotedIn(row[column] ?? '').length === 0),
      [],
    )
  })
}

test("ARCHITECTURE's tables of folders are the folders", () => {
  const [stations, launcher] = tablesOf('ARCHITECTURE.md')
    .filter(({ head }) => head[0] === 'Folder')
    .map(({ rows }) => rows.map(([cell = '']) => quotedIn(cell)[0] ?? ''))
  const adapters = foldersOf('src/adapters').map((name) => `adapters/${name}`)
  const folders = foldersOf('src').filter((name) => name !== 'adapters')
  assert.deepEqual(stations?.toSorted(), [...adapters, ...folders].toSorted())
  assert.deepEqual(launcher?.toSorted(), foldersOf('native/cell').toSorted())
  const [order = '', launcherOrder = ''] = readText('ARCHITECTURE.md').match(/^`.* → .*`$/gm) ?? []
  assert.deepEqual(order.replaceAll('`', '').split(' → ').toSorted(), foldersOf('src').toSorted())
  for (const name of foldersOf('native/cell')) assert.ok(launcherOrder.includes(name), name)
})

test('every file that ARCHITECTURE names exists', () => {
  const paths = listFiles()
  const named = quotedIn(readText('ARCHITECTURE.md').replace(/^```[^]*?^```/gm, '')).filter((name) =>
    /^[\w./-]+\.(?:ts|c|h|py|md)$/.test(name),
  )
  assert.ok(named.length > 100)
  // Inside a cell the harness is the bundle `guest.js`; a name without a folder is a file beside it.
  const missing = named.filter((name) => !paths.some((path) => path === name || path.endsWith(`/${name}`)))
  assert.deepEqual(missing, [])
})

test('every npm script that a page names exists', () => {
  const named = listFiles('', ['.md']).flatMap((page) =>
    [...readText(page).matchAll(/`npm run (?:--silent |-s )?([\w:]+)/g)].map(([, name = '']) => [page, name]),
  )
  assert.ok(named.length > 30)
  assert.deepEqual(
    // `release` is a user's example.
    named.filter(([, name = '']) => name !== 'release' && manifest.scripts[name] === undefined),
    [],
  )
})

test('README names only existing exports and commands', () => {
  const entries = Object.values(manifest.exports).flatMap(({ default: built }) =>
    built === undefined ? [] : [readText(built.replace('./dist/', 'src/').replace(/\.js$/, '.ts'))],
  )
  const program = createProgram({
    signal: new AbortController().signal,
    duringRun: (work) => work(),
    warn: () => undefined,
    perform: async () => undefined,
  })
  const commands = program.commands.map((command) => command.name())
  const lazaret = readText('src/engine/api.ts')
  const [table] = tablesOf('README.md')
  const named = (table?.rows ?? []).flatMap(([, use = '']) => quotedIn(use))
  assert.ok(named.length > 7)
  for (const name of named) {
    const [, method] = /^lazaret\.(\w+)\(\)$/.exec(name) ?? []
    const isThere =
      method === undefined
        ? commands.includes(name.replace('lazaret ', '')) ||
          entries.some((text) => new RegExp(`\\b${bareName(name)}\\b`).test(text))
        : new RegExp(`^ {2}(?:async )?${method}\\(`, 'm').test(lazaret)
    assert.ok(isThere, name)
  }
})

test('README has one figure for each measurement, and is short', () => {
  const readme = readText('README.md')
  const [, , speed] = tablesOf('README.md')
  const [, warm, , unprotected] = speed?.rows.find(([name]) => name === 'Python') ?? []
  assert.match(readme, new RegExp(`warm Python run takes ${warm} ms; .* takes ${unprotected} ms`))
  assert.ok(readme.split(/\s+/).length <= 1000)
})

test('the supported version is that of the package', () => {
  const [table] = tablesOf('SECURITY.md')
  assert.deepEqual(
    table?.rows.map(([version]) => version),
    [manifest.version.replace(/\d+$/, 'x')],
  )
})

test('docs/guide/actors.md lists the findings that its test covers', () => {
  const text = readText('test/escape/engines/known-findings-of-actors.test.ts')
  const tried = new Set([...text.matchAll(/'(CE-\d+): /g)].map(([, name]) => name))
  const table = tablesOf('docs/guide/actors.md').find(({ head }) => head[0] === 'Finding')
  assert.deepEqual(new Set(table?.rows.map(([name]) => name)), tried)
})

test('docs/internals/extending.md states the number of files of each change', () => {
  const [table] = tablesOf('docs/internals/extending.md')
  const sections = readText('docs/internals/extending.md').split(/^## /m).slice(1)
  const counted = sections.map((section) => new Set(section.match(/^`src\/[^`]+`/gm)).size)
  assert.deepEqual(
    table?.rows.map(([, count]) => Number(count)),
    counted,
  )
})

/** `retry(act)` → `retry`; `new RateLimiter()` → `RateLimiter`; `networks: ['none']` → `networks`. */
function bareName(text: string): string {
  if (/^[\w-]+$/.test(text) || text === 'exec()') return text
  return /^(?:new )?([\w-]+)\b/.exec(text)?.[1] ?? text
}

function filesIn({ rows }: Table, columns: readonly number[]): string[] {
  return rows.flatMap((row) => columns.flatMap((column) => quotedIn(row[column] ?? '')))
}

function isFile(path: string, below: readonly string[]): boolean {
  return ['', ...below.map((folder) => `${folder}/`)].some((folder) =>
    ['', '.test.ts', '.ts', '.c'].some((end) => existsSync(join(checkoutRoot, folder + path + end))),
  )
}

function foldersOf(path: string): string[] {
  const entries = readdirSync(join(checkoutRoot, path), { withFileTypes: true })
  return entries
    .filter((entry) => entry.isDirectory() && entry.name !== '__pycache__')
    .map(({ name }) => name)
}

/** The tests of decision 0003 read every page of decisions. */
function readsItsFolder(file: string, page: string): boolean {
  return readText(file).includes(page.split('/').at(-1) ?? page)
}
