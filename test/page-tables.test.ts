/** Tables of pages, compared with tables of the code: errors, outcomes, limits, levels, options, exit codes. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { exitCodeOf } from '../src/core/outcome.ts'
import type { Outcome } from '../src/core/outcome.ts'
import { protectionLevels } from '../src/core/protection.ts'
import { readText } from './support/sources/checkout.ts'
import { launcherConstants } from './support/sources/launcher-constants.ts'
import {
  cellsOf,
  pageColumns,
  pageTables,
  quote,
  rowsBelow,
  withColumn,
} from './support/pages/page-tables.ts'

const howToWrite = 'node test/support/pages/write-page-tables.ts'

for (const { page, heading, rows } of pageTables())
  test(`${page}, ${heading}: the table agrees with the code`, () => {
    assert.ok(rows.length > 5)
    assert.deepEqual(rowsBelow(page, heading), rows, howToWrite)
  })

for (const column of pageColumns())
  test(`${column.page}, ${column.heading}: the column ${column.column} agrees with the code`, () => {
    const text = readText(column.page)
    assert.equal(withColumn(text, column), text, howToWrite)
  })

test('a wrong figure in a generated column is found, and so is a missing row', () => {
  const text = '# Bounds\n\n| Name | Default |\n|---|---|\n| `waitMs` | 1 ms |\n| `other` | by hand |\n'
  const column = { page: '', heading: 'Bounds', column: 'Default', cells: { waitMs: '2 ms' } }
  assert.equal(withColumn(text, column), text.replace('1 ms', '2 ms'))
  assert.throws(() => withColumn(text, { ...column, cells: { none: '' } }), /no row for none/)
  assert.throws(() => withColumn(text, { ...column, column: 'Most' }), /no table has the column Most/)
})

const guestError = { name: 'Error', message: '' }

/** One outcome of each kind: the compiler reports a missing one. */
const outcomes: { readonly [Kind in Outcome['kind']]: Extract<Outcome, { readonly kind: Kind }> } = {
  completed: { kind: 'completed', exitCode: 3 },
  failed: { kind: 'failed', error: guestError, exitCode: 0 },
  'syntax-error': { kind: 'syntax-error', error: guestError },
  'timed-out': { kind: 'timed-out', limit: 'wall', limitMs: 1 },
  'limit-exceeded': { kind: 'limit-exceeded', limit: 'disk', allowed: 1 },
  'out-of-memory': { kind: 'out-of-memory', limitBytes: 1 },
  denied: { kind: 'denied', what: '' },
  killed: { kind: 'killed', signal: 'SIGKILL' },
  cancelled: { kind: 'cancelled' },
}

test('each outcome has its row, with the exit code of the command', () => {
  const words: Readonly<Partial<Record<Outcome['kind'], readonly [text: string, example: number]>>> = {
    completed: ['its own', 3],
    failed: ['its own, at least 1', 1],
    killed: ['128 + its number', 128 + 9],
  }
  const expected = Object.values(outcomes).map((outcome) => {
    const [text, example] = words[outcome.kind] ?? []
    if (example !== undefined) assert.equal(exitCodeOf(outcome), example)
    return [quote(outcome.kind), text ?? String(exitCodeOf(outcome))]
  })
  const rows = rowsBelow('docs/reference/errors.md', 'Outcomes').map(cellsOf)
  assert.deepEqual(
    rows.map(([kind, , exitCode]) => [kind, exitCode]),
    expected,
  )
})

test('the tables of levels have every level, strongest first', () => {
  for (const [page, heading] of [
    ['README.md', 'Protection levels'],
    ['docs/internals/layers.md', 'Levels'],
  ] as const) {
    const names = rowsBelow(page, heading).map((line) => cellsOf(line)[0])
    assert.deepEqual(names, protectionLevels.map(quote), page)
  }
})

test('each bound of the launcher has its row, with the value that the compiler sees', () => {
  const constants = launcherConstants()
  const rows = rowsBelow('docs/internals/launcher.md', 'Memory and its bounds').map(cellsOf)
  const named = rows.flatMap(([where = '', , bound = '']) =>
    [...bound.matchAll(/`([A-Z][A-Z_]+)`(?:, ([\d,]+)( [KM]iB)?)?/g)].map(([, name = '', digits, unit]) => {
      const factor = unit === ' MiB' ? 2 ** 20 : unit === ' KiB' ? 2 ** 10 : 1
      const stated = digits === undefined ? undefined : Number(digits.replaceAll(',', '')) * factor
      return { key: `native/cell/${/`([^`]+)`/.exec(where)?.[1]}: ${name}`, stated }
    }),
  )
  for (const { key, stated } of named) if (stated !== undefined) assert.equal(stated, constants.get(key), key)
  const bounds = [...constants.keys()].filter((key) => key.endsWith('_MAX'))
  assert.ok(bounds.length > 30)
  const missing = bounds.filter((key) => !named.some((one) => one.key === key))
  assert.deepEqual(missing, [])
})
