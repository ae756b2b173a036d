import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findLanguage } from '../../../../src/adapters/cli/options/language-by-extension.ts'

test('a file extension determines the language, in any case and in any folder', () => {
  assert.equal(findLanguage('report.py'), 'python')
  assert.equal(findLanguage('/tmp/a.b/REPORT.PY'), 'python')
  assert.deepEqual(['a.js', 'a.mjs', 'a.cjs'].map(findLanguage), ['javascript', 'javascript', 'javascript'])
  assert.deepEqual(['a.ts', 'a.mts', 'a.cts'].map(findLanguage), ['typescript', 'typescript', 'typescript'])
  assert.deepEqual(['a.sh', 'a.bash'].map(findLanguage), ['shell', 'shell'])
})

test('no extension, a hidden file or an unknown extension determines none', () => {
  for (const path of ['Makefile', '.py', 'notes.txt', '-', 'py', 'a.constructor']) {
    assert.equal(findLanguage(path), undefined, path)
  }
})
