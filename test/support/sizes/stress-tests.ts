/**
 * The stress test in several sizes: programs that refuse to end, leave something behind or hoard resources of the
 * machine, mixed with honest ones. Each has its expected outcome, and all of them end on time.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { drawSeed } from '../seed.ts'

import { stressKinds } from '../../../scripts/soaking/deck.ts'
import { soak } from '../../../scripts/soaking/soak.ts'
import { createLazaret } from '../create-lazaret.ts'
import type { Lazaret, Outcome, RunRequest } from '../../../src/index.ts'
import { processesLimitIsMissing } from '../hostile/limits-hold.ts'
import { python } from '../use-lazaret.ts'

interface StressSize {
  readonly runs: number
  readonly warmUpRuns: number
}

const MiB = 1024 * 1024
const inFlight = 25
const seed = drawSeed()
/** More programs than processors compute all the time, and each cell's pid 1 competes with them. */
const lateMsMax = 1000
const lateP95MsMax = 250
/** The processor time of the event loop's turns: the 99.9th percentile, and the maximum. */
const loopBounds = { mostMs: 50, maxMs: 200 }

/** Each slightly exceeds its limit, but uses no more than any machine has. */
const smallBombs: Readonly<Record<string, readonly [RunRequest, Outcome]>> = {
  memory: [
    { ...python, code: 'a = b"x" * (160 << 20)', limits: { memoryBytes: 64 * MiB, diskBytes: 8 * MiB } },
    { kind: 'out-of-memory', limitBytes: 64 * MiB },
  ],
  output: [
    { ...python, code: 'print("x" * 200_000)', limits: { outputBytes: 64 * 1024 } },
    { kind: 'limit-exceeded', limit: 'output', allowed: 64 * 1024 },
  ],
  'processor time': [
    {
      ...python,
      code: 'import time\nwhile time.process_time() < 3: pass',
      limits: { cpuMs: 300, wallMs: 60_000 },
    },
    { kind: 'timed-out', limit: 'cpu', limitMs: 300 },
  ],
  'wall time': [
    { ...python, code: 'import time; time.sleep(5)', limits: { wallMs: 600 } },
    { kind: 'timed-out', limit: 'wall', limitMs: 600 },
  ],
}

export function testStress({ runs, warmUpRuns }: StressSize): void {
  let lazaret: Lazaret
  const held = new Set<string>()
  before(() => void (lazaret = createLazaret({ onEvent: () => undefined })))
  after(() => lazaret[Symbol.asyncDispose]())

  test('each limit stops a small, bounded bomb', async () => {
    for (const [name, [request, expected]] of Object.entries(smallBombs)) {
      const { outcome } = await lazaret.run(request)
      assert.deepEqual(outcome, expected, name)
      held.add(name)
    }
    assert.equal(await processesLimitIsMissing({ run: (request) => lazaret.run(request) }), false)
    held.add('processes')
    await lazaret.releaseWorkers()
  })

  test(`${runs} hostile and honest runs, ${inFlight} at a time, end on time and as they should, and leave nothing`, async (context) => {
    assert.equal(
      held.size,
      Object.keys(smallBombs).length + 1,
      'Real bombs need limits that were seen to hold.',
    )
    context.diagnostic(`npm run soak -- --stress --runs ${runs} --in-flight ${inFlight} --seed ${seed}`)
    const report = await soak({ runs, warmUpRuns, inFlight, seed, cold: false, kinds: stressKinds })
    const { lateness, loop } = report
    context.diagnostic(`late at a deadline: ${JSON.stringify(lateness)}; event loop: ${JSON.stringify(loop)}`)
    assert.deepEqual({ problems: report.problems, wrong: report.wrong }, { problems: [], wrong: 0 })
    assert.equal(report.runs, runs)
    assert.ok(lateness.runs > runs / 10, `${lateness.runs} ran into a deadline`)
    assert.ok(lateness.maxMs < lateMsMax && lateness.p95Ms < lateP95MsMax, JSON.stringify(lateness))
    assert.ok(
      loop.mostMs < loopBounds.mostMs && loop.maxMs < loopBounds.maxMs,
      `event loop: ${JSON.stringify(loop)}`,
    )
  })
}
