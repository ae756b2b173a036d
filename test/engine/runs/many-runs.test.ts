/** Many concurrent runs must not cause a warning of Node, which it would print on the host's standard error. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { useLazaret } from '../../support/use-lazaret.ts'

const { run } = await useLazaret({ onEvent: () => undefined })

test('concurrent runs cause no warning about a leak in Node', async () => {
  const warnings: string[] = []
  const note = ({ message }: Error) => void warnings.push(message)
  process.on('warning', note)
  try {
    await Promise.all(Array.from({ length: 12 }, () => run({ language: 'shell', code: ':' })))
  } finally {
    process.off('warning', note)
  }
  assert.deepEqual(warnings, [])
})
