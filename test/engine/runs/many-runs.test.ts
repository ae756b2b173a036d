/** Many runs at one time are nothing that a Node warns of: it would do so on the standard error of a host. */
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
