/** What is recorded of a program's contents: hashes, and nothing of its variables. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'

import { digest, digestGiven } from '../../src/observe/digest.ts'

const hashOf = (text: string | Uint8Array) => createHash('sha256').update(text).digest('hex')

test('a text and bytes are recorded by their SHA-256 and their length in bytes', () => {
  assert.deepEqual(digest('über'), { sha256: hashOf('über'), bytes: 5 })
  assert.deepEqual(digest(Buffer.from([0, 255])), { sha256: hashOf(Buffer.from([0, 255])), bytes: 2 })
})

test('nothing that a caller gives is recorded as text, and variables not at all', () => {
  const spec = {
    language: 'python',
    code: 'print("sesame")',
    input: { word: 'sesame' },
    stdin: 'sesame',
    files: { 'sesame.txt': 'sesame' },
    args: ['sesame'],
    env: { WORD: 'sesame' },
  } as const
  const given = digestGiven(spec, 1000)
  assert.doesNotMatch(JSON.stringify(given), /sesame|WORD/)
  assert.deepEqual(Object.keys(given).toSorted(), ['code', 'files', 'input', 'stdin'])
  assert.equal(given.code.sha256, hashOf(spec.code))
  assert.deepEqual(digestGiven({ ...spec, env: {}, args: [] }, 1000), given)
})
