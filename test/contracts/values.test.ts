/** docs/guide/values.md: each row of its tables is run in each language that it names. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { runInThisContext } from 'node:vm'

import { Unserializable } from '../../src/core/values/encode-leaf.ts'
import { findDifference } from '../properties/same-value.ts'
import { readText } from '../support/sources/checkout.ts'
import { bun, node, python, useLazaret } from '../support/use-lazaret.ts'

const guests = await useLazaret()

const page = readText('docs/guide/values.md')
const pythonImports =
  'import array, collections, dataclasses, datetime, decimal, enum, fractions, pathlib, re, uuid\n'

/** The cells of the rows below a heading, without their code marks. */
function rowsBelow(heading: string): readonly (readonly string[])[] {
  const section = page.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? ''
  const rows = section.split('\n').filter((line) => line.startsWith('| `'))
  return rows.map((row) =>
    row
      .slice(2, -1)
      .split(' | ')
      .map((cell) => cell.trim().replace(/^`(.*)`$/, '$1')),
  )
}

function evaluate(code: string): unknown {
  Reflect.set(globalThis, 'Unserializable', Unserializable)
  try {
    return runInThisContext(`(${code})`)
  } finally {
    Reflect.deleteProperty(globalThis, 'Unserializable')
  }
}

describe('docs/guide/values.md: to the guest and back', () => {
  const rows = rowsBelow('Into the guest and back')
  const sent = rows.map(([code = '']) => evaluate(code))
  const expected = (cell: string | undefined, index: number) =>
    cell === 'same' ? sent[index] : evaluate(cell ?? '')

  test('has rows', () => assert.ok(rows.length > 40))

  for (const [name, request] of Object.entries({ bun, node })) {
    test(`each row, in ${name}`, async () => {
      const { value } = await guests.run({ ...request, code: 'input', input: sent })
      const wrong = rows.flatMap(([code = '', inside, , back], index) =>
        [inside, back]
          .flatMap((cell) => findDifference((value as unknown[])[index], expected(cell, index)) ?? [])
          .map((difference) => `${code}: ${difference}`),
      )
      assert.deepEqual(wrong, [])
    })
  }

  test('each row, in python', async () => {
    const { value } = await guests.run({
      ...python,
      code: '[[repr(each) for each in input_data], input_data]',
      input: sent,
    })
    const [shown, back] = value as [string[], unknown[]]
    assert.deepEqual(
      shown,
      rows.map(([, , text]) => text),
    )
    const wrong = rows.flatMap(([code = '', , , cell], index) =>
      (findDifference(back[index], expected(cell, index)) ?? []).length === 0
        ? []
        : [`${code}: ${findDifference(back[index], expected(cell, index))}`],
    )
    assert.deepEqual(wrong, [])
  })
})

describe('docs/guide/values.md: from Python', () => {
  const rows = rowsBelow('From Python')

  test('each row', async () => {
    const code = `${pythonImports}[${rows.map(([expression]) => expression).join(',\n')}]`
    const { value, valueTagged, stderr } = await guests.run({ ...python, code })
    assert.equal(stderr, '')
    const wrong = rows.flatMap(([expression = '', live = '', tag], index) => {
      const expected = evaluate(live)
      const actual = (value as unknown[])[index]
      // An exception has its own stack, or none.
      if (expected instanceof Error && actual instanceof Error) expected.stack = actual.stack ?? ''
      const actualTag: unknown = Reflect.get(Object((valueTagged as unknown[])[index]), '$type') ?? ''
      const difference =
        findDifference(actual, expected) ?? (actualTag === tag ? undefined : `tag ${String(actualTag)}`)
      return difference === undefined ? [] : [`${expression}: ${difference}`]
    })
    assert.deepEqual(wrong, [])
    assert.ok(rows.length > 40)
  })
})

describe('docs/guide/values.md: from Bun and Node', () => {
  const rows = rowsBelow('From Bun and Node')

  for (const [name, request] of Object.entries({ bun, node })) {
    test(`each row, in ${name}`, async () => {
      const code = `[${rows.map(([expression]) => expression).join(',\n')}]`
      const { value } = await guests.run({ ...request, code })
      const wrong = rows.flatMap(([expression = '', live = ''], index) => {
        const difference = findDifference((value as unknown[])[index], evaluate(live))
        return difference === undefined ? [] : [`${expression}: ${difference}`]
      })
      assert.deepEqual(wrong, [])
      assert.ok(rows.length > 10)
    })
  }
})

describe('docs/guide/values.md: what differs after a round trip', () => {
  test('null as the whole input gives no value in Python', async () => {
    const result = await guests.run({ ...python, code: 'input_data', input: null })
    assert.equal('value' in result, false)
  })

  test('two views of one buffer are copies', async () => {
    const { buffer } = new Uint8Array(4)
    const { value } = await guests.run({
      ...node,
      code: 'input[0][0] = 1; input',
      input: [new Uint8Array(buffer), new Uint8Array(buffer)],
    })
    assert.deepEqual(value, [new Uint8Array([1, 0, 0, 0]), new Uint8Array(4)])
  })

  test('a copy made in Python has the plain type', async () => {
    const { value } = await guests.run({
      ...python,
      code: 'import copy\n[dict(input_data[0]), list(input_data[1]), +input_data[2], copy.deepcopy(input_data[3])]',
      input: [new Map([['a', 1]]), [undefined], 5n, new Uint8Array([1])],
    })
    assert.deepEqual(value, [{ a: 1 }, [null], 5, new Uint8Array([1])])
  })
})
