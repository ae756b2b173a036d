import assert from 'node:assert/strict'
import { test } from 'node:test'

import { defaultLimits } from '../../../src/core/limits.ts'
import type { Limits } from '../../../src/core/limits.ts'
import type { RunRequest } from '../../../src/core/request.ts'
import { checkSizes } from '../../../src/engine/options/check-sizes.ts'

const check = (fields: Partial<RunRequest>, limits: Partial<Limits>) => () =>
  checkSizes({ code: '', language: 'shell', ...fields }, { ...defaultLimits, ...limits })
const refusal = (message: RegExp) => ({ code: 'INPUT_TOO_LARGE', message })

test('code, stdin and files may fill their limits to the last byte', () => {
  assert.doesNotThrow(check({ code: '€' }, { codeBytes: 3 }))
  assert.throws(check({ code: '€x' }, { codeBytes: 3 }), refusal(/code: 4 bytes; codeBytes is 3/))
  const given = { stdin: 'ab', files: { x: 'cd', y: new Uint8Array(2) } }
  assert.doesNotThrow(check(given, { inputBytes: 6 }))
  assert.throws(check(given, { inputBytes: 5 }), refusal(/stdin and files: 6 bytes; inputBytes is 5/))
})

test('files take whole pages of the disk', () => {
  assert.doesNotThrow(check({ files: { a: 'x', b: 'x' } }, { diskBytes: 8192 }))
  assert.throws(
    check({ files: { a: 'x', b: 'x', c: 'x' } }, { diskBytes: 8192 }),
    refusal(/12288 bytes; diskBytes is 8192/),
  )
  assert.doesNotThrow(check({ files: { a: '', b: '', c: '' } }, { diskBytes: 8192 }))
})

test('there may not be more files and folders than the disk can hold', () => {
  const files = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`folder-${index % 2}/${index}`, '']))
  // The smallest disk has 1024 entries: the root, two folders, and the files.
  assert.doesNotThrow(check({ files: files(1021) }, { diskBytes: 65_536 }))
  assert.throws(check({ files: files(1022) }, { diskBytes: 65_536 }), refusal(/1025 files and folders/))
})

test('arguments and variables fit into one frame together', () => {
  const args = (count: number) => Array.from({ length: count }, () => 'x'.repeat(100_000))
  assert.doesNotThrow(check({ args: args(9) }, {}))
  assert.throws(check({ args: args(10) }, {}), refusal(/args and env: 1000000 bytes/))
  assert.throws(check({ args: args(9), env: { A: 'x'.repeat(100_000) } }, {}), refusal(/args and env/))
})
