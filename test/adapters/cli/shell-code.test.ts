import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toShellCode } from '../../../src/adapters/cli/options/shell-code.ts'

test('one word is a line for the shell; several words are quoted, so they arrive unchanged', () => {
  assert.equal(toShellCode(['ls | wc -l']), 'ls | wc -l')
  assert.equal(
    toShellCode(['echo', 'a  b', '$HOME', "it's", '', '-n']),
    `echo 'a  b' '$HOME' 'it'\\''s' '' -n`,
  )
  for (const words of [[], [''], [' ', '']]) assert.throws(() => toShellCode(words), { name: 'UsageError' })
})
