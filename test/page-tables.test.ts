/** Tables of pages, compared with tables of the code: errors, outcomes, limits, levels, options, exit codes. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { isBelow } from '../scripts/testing/plan/levels.ts'
import { notDaily } from '../scripts/testing/plan/not-daily.ts'
import { limitNames } from '../src/core/limits.ts'
import { exitCodeOf } from '../src/core/outcome.ts'
import type { Outcome } from '../src/core/outcome.ts'
import { defaultMinimum, protectionLevels } from '../src/core/protection.ts'
import { ownGround, planExample } from './jail/cell/example-cell.ts'
import { listFiles, readText } from './support/sources/checkout.ts'
import { launcherConstants } from './support/sources/launcher-constants.ts'
import { pageFigures } from './support/pages/page-figures.ts'
import { cellsOf, pageTables, quote, rowsBelow } from './support/pages/page-tables.ts'

for (const { page, heading, rows } of pageTables())
  test(`${page}, ${heading}: the table agrees with the code`, () => {
    assert.ok(rows.length > 5)
    assert.deepEqual(rowsBelow(page, heading), rows, 'node test/support/pages/write-page-tables.ts')
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
  assert.deepEqual(
    rows.filter(([, when = '']) => when.length < 10),
    [],
  )
  const [, named = ''] = /`result\.outcome`: ([^.]*)\./.exec(readText('README.md')) ?? []
  assert.deepEqual(
    new Set([...named.matchAll(/`([\w-]+)`/g)].map(([, kind]) => kind)),
    new Set(Object.keys(outcomes)),
  )
})

test('the pages list the levels in order, and the default', () => {
  for (const [page, heading] of [
    ['README.md', 'Protection levels'],
    ['docs/internals/layers.md', 'Levels'],
  ] as const) {
    const names = rowsBelow(page, heading).map((line) => cellsOf(line)[0])
    assert.deepEqual(names, protectionLevels.map(quote), page)
    assert.match(
      readText(page),
      new RegExp(`\`minimumProtection\` \\(default \`${defaultMinimum}\`\\)`),
      page,
    )
  }
})

test('the counts in README are right', () => {
  const readme = readText('README.md')
  const { dependencies } = JSON.parse(readText('package.json')) as { readonly dependencies: object }
  const counts = {
    'Up to (\\d+) kernel layers': planExample(ownGround).layers.length,
    '(\\d+) limits cover': limitNames.length,
    'with (\\d+) dependencies': Object.keys(dependencies).length,
  }
  for (const [pattern, count] of Object.entries(counts))
    assert.equal(new RegExp(pattern).exec(readme)?.[1], String(count), pattern)
  const attacks = Number(/more than (\d+) \[attacks\]/.exec(readme)?.[1])
  const rows = readText('docs/reference/attacks.md').match(/^\|.*\| `[\w-]+\/[^|]*\|$/gm) ?? []
  assert.ok(rows.length > attacks, `${rows.length} rows with a test`)
})

test('figures in the text are those of the code', () => {
  for (const [page, pattern, file, meant] of pageFigures) {
    const [text, figure] = [pattern.exec(readText(page))?.[1], meant.exec(readText(file))?.[1]]
    assert.ok(text !== undefined, `${page} has ${pattern}`)
    assert.ok(figure !== undefined, `${file} has ${meant}`)
    assert.equal(text.replaceAll(/[ ,_]/g, ''), figure.replaceAll(/[ ,_]/g, ''), `${page}: ${pattern}`)
  }
})

test('pages describe correctly what `npm test` runs', () => {
  const isDaily = (file: string) => !isBelow(file, notDaily)
  const escapes = listFiles('test/escape', ['.test.ts']).map(isDaily)
  const wide = listFiles('test-deep', ['.test.ts'])
  const claims: Readonly<Record<string, readonly [page: string, text: string, isSo: boolean]>> = {
    programs: [
      'docs/reference/compatibility.md',
      '`npm run test:all` runs them',
      !isDaily('test/compatibility/shell.test.ts'),
    ],
    modules: [
      'docs/reference/compatibility.md',
      '| `npm test` | 10 |',
      isDaily('test/conformance/python/regression.test.ts'),
    ],
    escapes: [
      'THREAT_MODEL.md',
      '`npm test` runs most of them',
      escapes.filter(Boolean).length > escapes.length / 2 && escapes.includes(false),
    ],
    wide: ['CONTRIBUTING.md', '`test-deep/wide` too', wide.every((file) => !isDaily(file))],
  }
  for (const [name, [page, text, isSo]] of Object.entries(claims)) {
    assert.ok(readText(page).replaceAll(/\s+/g, ' ').includes(text), `${page}: ${text}`)
    assert.ok(isSo, name)
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
