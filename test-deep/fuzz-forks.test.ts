/**
 * Random programs in forks, from a fixed seed. `npm run fuzz:forks` tries more of them. The judge is tested, too: it must
 * notice a wrong answer, and one that comes too late.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { fuzzForks, judge } from '../scripts/fork-fuzzing/fuzz.ts'
import { engines, generateCase } from '../scripts/fork-fuzzing/generate.ts'
import { useLazaret } from '../test/support/use-lazaret.ts'

const seed = 7
const runs = 30
const { run, level } = await useLazaret()
const canFork = level !== 'restricted' && process.arch === 'x64'

test('the same seed and number make the same program, and others make others', () => {
  for (const engine of engines) {
    assert.deepEqual(generateCase(engine, seed, 3), generateCase(engine, seed, 3))
    assert.notEqual(generateCase(engine, seed, 3).program, generateCase(engine, seed, 4).program)
    assert.notEqual(generateCase(engine, seed, 3).program, generateCase(engine, seed + 1, 3).program)
  }
})

test('a wrong answer is a finding, and so is a run that only waits', async () => {
  const expected = {
    ...generateCase('node', seed, 0),
    outcome: { kind: 'completed', exitCode: 0 },
    value: 42,
  } as const
  const result = await run({ language: 'javascript', code: '6 * 7', limits: { wallMs: 60_000 } })
  assert.equal(judge(expected, result), undefined)
  assert.match(judge({ ...expected, value: 43 }, result) ?? '', /42.* instead of .*43/)
  assert.match(judge(expected, await run({ language: 'javascript', code: 'throw 1' })) ?? '', /failed/)
  assert.match(
    judge(expected, { ...result, usage: { ...result.usage, wallMs: 50_000 } }) ?? '',
    /in 50000 ms/,
  )
})

describe('random programs in forks', { skip: !canFork && 'behind namespaces, on x64' }, () => {
  for (const engine of engines)
    test(`of ${engine} end with their one right answer`, async (context) => {
      const { signal } = new AbortController()
      context.diagnostic(`npm run fuzz:forks -- --engine ${engine} --runs ${runs} --seed ${seed}`)
      const report = await fuzzForks({ engine, runs, inFlight: 4, seed, signal, say: () => undefined })
      assert.deepEqual(report.findings, [])
      assert.ok((report.starts['forked'] ?? 0) >= runs)
    })
})
