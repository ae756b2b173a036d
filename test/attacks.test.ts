/**
 * docs/reference/attacks.md lists attacks and what stopped them. Every test, level and layer that it names must exist.
 */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

import { protectionLevels } from '../src/core/protection.ts'
import type { ProtectionLevel } from '../src/core/protection.ts'
import { limitMechanisms } from '../src/jail/limits/plan-limits.ts'
import { ownGround, planExample, planRestrictedExample, sharedGround } from './jail/cell/example-cell.ts'
import { checkoutRoot, listFiles, readText } from './support/sources/checkout.ts'

/** The layers that a level's column may name. Add a level here if it is added to the page. */
const layersOf: Partial<Record<ProtectionLevel, readonly string[]>> = {
  strong: [
    ...planExample(ownGround).layers,
    ...Object.values(limitMechanisms({ cgroupVersion: 1, level: 'strong', identity: 'own' })),
  ],
  standard: [
    ...planExample(sharedGround).layers,
    ...Object.values(limitMechanisms({ cgroupVersion: null, level: 'standard', identity: 'shared' })),
  ],
  restricted: [
    ...planRestrictedExample(sharedGround).layers,
    ...Object.values(limitMechanisms({ cgroupVersion: null, level: 'restricted', identity: 'shared' })),
  ],
}

interface Row {
  readonly attack: string
  readonly layers: Readonly<Record<string, readonly string[]>>
  readonly tests: readonly string[]
  readonly withoutTest: string | undefined
}

const quoted = (cell: string) => [...cell.matchAll(/`([^`]+)`/g)].map(([, word = '']) => word)

/** Every table of the page has the same columns: the attack, one column per level, the test. */
function readPage(): { readonly levels: readonly string[]; readonly rows: readonly Row[] } {
  const lines = readText('docs/reference/attacks.md')
    .split('\n')
    .filter((line) => line.startsWith('|') && !line.startsWith('|--'))
  const cellsOf = (line: string) =>
    line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim())
  const [head = ''] = lines
  const [attack, ...levels] = cellsOf(head)
  assert.deepEqual([attack, levels.pop()], ['Attack', 'Test'])
  const rows = lines.filter((line) => line !== head).map((line) => readRow(cellsOf(line), levels))
  return { levels, rows }
}

function readRow(cells: readonly string[], levels: readonly string[]): Row {
  assert.equal(cells.length, levels.length + 2, cells[0])
  const layers = Object.fromEntries(levels.map((level, index) => [level, quoted(cells[index + 1] ?? '')]))
  const last = cells.at(-1) ?? ''
  const withoutTest = last.startsWith('—') ? last : undefined
  return { attack: cells[0] ?? '', layers, tests: withoutTest === undefined ? quoted(last) : [], withoutTest }
}

const { levels, rows } = readPage()

test('the page has a column for every level whose layers are known, strongest first', () => {
  assert.deepEqual(
    levels,
    protectionLevels.filter((level) => layersOf[level] !== undefined),
  )
})

/** A name is a path below `test/`, or one that starts with `test-deep/`, without its extension. */
const fileOf = (name: string) => `${name.startsWith('test-deep/') ? '' : 'test/'}${name}.test.ts`

test('every test of attacks has a row, and every test in a row exists', () => {
  const named = new Set(rows.flatMap(({ tests }) => tests).map(fileOf))
  const attacks = [...listFiles('test/escape', ['.test.ts']), ...listFiles('test-deep', ['-attacks.test.ts'])]
  assert.deepEqual(
    attacks.filter((path) => !named.has(path)),
    [],
  )
  assert.deepEqual(
    [...named].filter((path) => !existsSync(join(checkoutRoot, path))),
    [],
  )
})

test('a row has a test and names what stops the attack at each level, or says why there is no test', () => {
  for (const { attack, layers, tests, withoutTest } of rows) {
    const empty = levels.filter((level) => layers[level]?.length === 0)
    if (withoutTest === undefined) assert.ok(tests.length > 0 && empty.length === 0, attack)
    else {
      assert.match(withoutTest, /^— (out of reach|no such runtime yet): \S.{10,}/, attack)
      assert.deepEqual(empty, levels, attack)
    }
  }
})

test('no column names a layer or a mechanism that is missing at its level', () => {
  const wrong = rows.flatMap(({ attack, layers }) =>
    Object.entries(layers).flatMap(([level, names]) =>
      names
        .filter((name) => !layersOf[level as ProtectionLevel]?.includes(name))
        .map((name) => `${attack} · ${level}: ${name}`),
    ),
  )
  assert.deepEqual(wrong, [])
})

test('no attack is listed twice', () => {
  const attacks = rows.map(({ attack }) => attack)
  assert.equal(new Set(attacks).size, attacks.length)
  assert.ok(attacks.length > 60, `only ${attacks.length} rows`)
})
