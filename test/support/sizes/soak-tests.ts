/**
 * The same soak test in several sizes: many concurrent runs of every kind, each with its expected end and no leftovers.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { killHosts } from '../../../scripts/soaking/kill-hosts.ts'
import { havePools } from '../../../scripts/soaking/pools.ts'
import { soak } from '../../../scripts/soaking/soak.ts'
import { drawSeed } from '../seed.ts'

interface SoakSize {
  readonly runs: number
  readonly warmUpRuns: number
  /** The number of hosts that are killed during such runs. */
  readonly deaths: number
}

const inFlight = 50
const seed = drawSeed()

export function testSoak({ runs, warmUpRuns, deaths }: SoakSize): void {
  // Where there are no pools, there is nothing to turn off, so one form is enough.
  for (const cold of havePools() ? [true, false] : [false]) {
    const how = cold ? 'each in a cell of its own' : 'as they come'
    test(`${runs} runs of all kinds, ${inFlight} at a time, ${how}, end as they should and leave nothing`, async (context) => {
      context.diagnostic(`npm run soak -- --runs ${runs} --in-flight ${inFlight} --seed ${seed}`)
      const report = await soak({ runs, warmUpRuns, inFlight, seed, cold })
      context.diagnostic(
        `resident memory grew by ${Math.round(report.residentGrowthBytes / 1024)} KiB in a quarter of the runs`,
      )
      assert.deepEqual({ problems: report.problems, wrong: report.wrong }, { problems: [], wrong: 0 })
      assert.equal(report.runs, runs)
    })
  }

  test('nothing is left of hosts that are killed amid such runs', async () => {
    const plan = { inFlight: 25, seed, cold: false, restricted: false, onDeath: () => undefined }
    const report = await killHosts({ times: deaths, ...plan })
    assert.deepEqual(report.problems, [])
    assert.equal(report.deaths.length, deaths)
  })
}
