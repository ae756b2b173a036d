/** JSON in parts is the same as JSON at once. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { jsonPieces } from '../../../src/core/values/json-steps.ts'

const half = '\uD83D'
const many = Array.from({ length: 3000 }, (_, index) => index)
const values: Readonly<Record<string, unknown>> = {
  leaves: [1, -0, NaN, 'a', '', true, null, undefined, half, '\0"\\'],
  'a number': 1,
  'a text': 'text',
  nothing: null,
  'empty containers': [{}, [], [[]], { a: {} }],
  'members that JSON leaves out': { a: undefined, b: 1, c: () => 1, d: [() => 1], e: { f: undefined } },
  'methods of objects': [new Date(0), { toJSON: () => ({ own: [1] }) }, { inside: { toJSON: () => 'text' } }],
  'long texts': { ['k'.repeat(100_000)]: `${'😀'.repeat(70_000)}${half}`, b: ['x'.repeat(200_000), 1] },
  'many members': [many, many.map((index) => (index % 7 === 0 ? { index } : index)), many.map(() => [])],
  'many keys': Object.fromEntries(
    many.map((index) => [`k${index}`, index % 5 === 0 ? [[index]] : `${index}`]),
  ),
  'the key __proto__': JSON.parse('{"__proto__":{"a":[1]},"b":{"__proto__":1}}'),
}

for (const [what, value] of Object.entries(values))
  test(what, () => {
    const pieces = [...jsonPieces(value)].filter((piece) => piece !== undefined)
    assert.equal(Buffer.concat(pieces).toString(), JSON.stringify(value))
  })
