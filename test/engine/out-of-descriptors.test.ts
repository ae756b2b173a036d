import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'

const library = new URL('../../src/index.ts', import.meta.url).href

/** Forty runs at once in a process that may open thirty-seven descriptors; prints how each ended. */
const program = `
import { createLazaret } from ${JSON.stringify(library)}
const lazaret = createLazaret()
const runs = Array.from({ length: 40 }, () => lazaret.run({ language: 'shell', code: 'echo hi' }))
const ends = (await Promise.allSettled(runs)).map(({ status, value, reason }) => status === 'fulfilled' ? value.outcome.kind : reason.code ?? String(reason))
// Cells that have answered may still be closing their descriptors.
let outcome
for (let tries = 1; outcome === undefined; tries++) {
  try {
    outcome = (await lazaret.run({ language: 'shell', code: 'exit 4' })).outcome
  } catch (error) {
    if (tries === 500) throw error
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
await lazaret[Symbol.asyncDispose]()
console.log(JSON.stringify({ ends, outcome }))
`

test('a host without descriptors refuses runs and lives on', () => {
  const child = spawnSync(
    '/bin/sh',
    ['-c', 'ulimit -n 37; exec "$@"', 'sh', process.execPath, '--input-type=module', '-e', program],
    {
      encoding: 'utf8',
    },
  )
  assert.equal(child.status, 0, child.stderr)
  const { ends, outcome } = JSON.parse(child.stdout) as { ends: string[]; outcome: unknown }
  assert.deepEqual([...new Set(ends)].toSorted(), ['CELL_FAILED', 'completed'])
  assert.deepEqual(outcome, { kind: 'completed', exitCode: 4 })
})
