/** Decides whether a person at a prompt is still typing. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { isUnfinished } from '../../../../src/adapters/cli/repl/unfinished-code.ts'

const python: [string, boolean][] = [
  ['x = 1', false],
  ['f(1,', true],
  ['f(1,\n2)', false],
  ['x = """a', true],
  ['x = """a\n\n', true],
  ['x = """a\nb"""', false],
  ['x = "(" # [', false],
  ['if x:', true],
  ['if x: # why', true],
  ['if x:\n    y', true],
  ['if x:\n    y\n', false],
  ['if x: y', false],
  ['@cached', true],
  ['@cached\ndef f(): return 1', true],
  ['@cached\ndef f(): return 1\n', false],
  ['x = 1 + \\', true],
  ["x = {'a': [1,", true],
  [')', false],
]
const javascript: [string, boolean][] = [
  ['let x = 1', false],
  ['function f() {', true],
  ['function f() {\n', true],
  ['function f() {\n\n}', false],
  ['`a', true],
  ['`a\n\n', true],
  ['`a ${1} b`', false],
  ['/* a', true],
  ['/* a */ 1', false],
  ['// {', false],
  ['"{" + \'(\'', false],
  ['f(() => [', true],
]

for (const [language, cases] of [
  ['python', python],
  ['javascript', javascript],
] as const)
  for (const [code, expected] of cases)
    test(`${language}: ${JSON.stringify(code)} is ${expected ? 'unfinished' : 'complete'}`, () => {
      assert.equal(isUnfinished(code, language), expected)
    })
