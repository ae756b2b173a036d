import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'

const library = new URL('../../../src/index.ts', import.meta.url).href

/** Forty runs at once in a process that may open thirty-seven descriptors; prints how each ended. */
const program = `
import { createLazaret } from ${JSON.stringify(library)}
const lazaret = createLazaret({ minimumProtection: 'restricted' })
const runs = Array.from({ length: 40 }, () => lazaret.run({ language: 'shell', code: 'echo hi' }))
const ends = (await Promise.allSettled(runs)).map(({ status, value, reason }) => status === 'fulfilled' ? value.outcome.kind : reason.code ?? String(reason))
// Finished cells may still be closing their descriptors.
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

/**
 * One run for each number of free descriptors, from none to enough, at the first start of a launcher. It prints how
 * each ended and how many descriptors it has left open.
 */
const atTheEdge = `
import { closeSync, openSync, readdirSync } from 'node:fs'
import { createLazaret } from ${JSON.stringify(library)}
const countOpen = () => readdirSync('/proc/self/fd').length
async function runWith(spare) {
  const lazaret = createLazaret({ minimumProtection: 'restricted', pools: { shell: { min: 0, max: 0 } }, onEvent: () => undefined })
  const taken = []
  if (spare !== undefined) {
    try { for (;;) taken.push(openSync('/dev/null')) } catch {}
    for (const descriptor of taken.splice(0, spare)) closeSync(descriptor)
  }
  const run = lazaret.run({ language: 'shell', code: ':' })
  const end = await run.then(({ outcome }) => outcome.kind, ({ code }) => code)
  for (const descriptor of taken) closeSync(descriptor)
  await lazaret[Symbol.asyncDispose]()
  return end
}
await runWith(undefined)
const before = countOpen()
const ends = []
for (let spare = 0; spare < 16; spare++) ends.push([await runWith(spare), countOpen() - before])
console.log(JSON.stringify(ends))
`

/** Python is asked for its version while no descriptor is free, and runs when some are. */
const pythonLater = `
import { closeSync, openSync } from 'node:fs'
import { createLazaret } from ${JSON.stringify(library)}
const lazaret = createLazaret({ minimumProtection: 'restricted' })
const run = () => lazaret.run({ language: 'python', code: '1 + 1' }).then(({ value }) => value, ({ code }) => code)
await lazaret.run({ language: 'shell', code: ':' })
const taken = []
try { for (;;) taken.push(openSync('/dev/null')) } catch {}
const during = await run()
for (const descriptor of taken) closeSync(descriptor)
console.log(JSON.stringify([during, await run()]))
await lazaret[Symbol.asyncDispose]()
`

function runLimited(code: string, descriptors: number): unknown {
  const limited = ['-c', `ulimit -n ${descriptors}; exec "$@"`, 'sh']
  const node = [process.execPath, '--input-type=module', '-e', code]
  const child = spawnSync('/bin/sh', [...limited, ...node], { encoding: 'utf8' })
  assert.equal(child.status, 0, child.stderr)
  return JSON.parse(child.stdout)
}

test('a host without free descriptors refuses runs and continues', () => {
  const { ends, outcome } = runLimited(program, 37) as { ends: string[]; outcome: unknown }
  assert.deepEqual([...new Set(ends)].toSorted(), ['CELL_FAILED', 'completed'])
  assert.deepEqual(outcome, { kind: 'completed', exitCode: 4 })
})

test('a run that is refused during its start leaves no descriptor open', () => {
  const ends = runLimited(atTheEdge, 80) as [string, number][]
  assert.deepEqual([ends.at(0)?.[0], ends.at(-1)?.[0]], ['CELL_FAILED', 'completed'])
  assert.deepEqual([...new Set(ends.map(([, left]) => left))], [0])
})

test('an interpreter that could not be asked is asked again', () => {
  assert.deepEqual(runLimited(pythonLater, 80), ['CELL_FAILED', 2])
})
