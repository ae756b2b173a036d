/** Patterns of files to collect, as a client may send them, that take the host long to expand, to parse or to match. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { growthBytesMax, keepLoopFree } from '../../support/machine/loop-delay.ts'
import { useLazaret } from '../../support/use-lazaret.ts'

const guests = await useLazaret()

const bounds = { growthBytesMax }
const shell = { language: 'shell', code: 'true' } as const

const expanded: Readonly<Record<string, (number: number) => string>> = {
  'braces that are never closed': (number) => `${'{a,b}'.repeat(6)}${'{'.repeat(900)}${number}`,
  'long alternatives': (number) => `${'?'.repeat(900)}{${','.repeat(63)}}${number}`,
}
for (const [what, pattern] of Object.entries(expanded))
  test(`${what}, in as many patterns as a request may have, are refused before they block the host`, async () => {
    const collect = Array.from({ length: 64 }, (_, number) => pattern(number))
    const refusal = await keepLoopFree(
      what,
      () => guests.run({ ...shell, collect }).then(() => 'none', String),
      bounds,
    )
    assert.match(refusal, /collect\[1\]: has alternatives in braces that are too long/)
  })

/** Matches no file, and takes time for each part of its path. */
const costly = `${'**/*a/'.repeat(20)}*${'[a-a]'.repeat(120)}0{${','.repeat(63)}}`
const files = `d=$(printf 'a%.0s' $(seq 250))
for i in $(seq 14); do mkdir $d; cd $d; done
touch $(seq 4 9)`

test('patterns that are slow to match, in many runs that end at the same time, do not block the host', async () => {
  const limits = { memoryBytes: 64 * 1024 * 1024 }
  const request = { ...shell, code: files, collect: [costly, '**/7'], limits }
  const runs = () => Promise.all(Array.from({ length: 16 }, () => guests.run(request)))
  const results = await keepLoopFree('sixteen collections', runs)
  for (const { files: collected, outcome, truncated } of results) {
    assert.deepEqual(outcome, { kind: 'completed', exitCode: 0 })
    // Matching has a deadline, which a slow machine reaches. Then the result says so.
    assert.equal(Object.keys(collected).length, truncated.includes('files') ? 0 : 1)
  }
})

test('as many deep folders as a request may name do not block the host', async () => {
  const collect = Array.from({ length: 64 }, (_, number) => `${number}${'/a'.repeat(509)}`)
  const { outcome } = await keepLoopFree('deep folders', () => guests.run({ ...shell, collect }), bounds)
  assert.deepEqual(outcome, { kind: 'completed', exitCode: 0 })
})
