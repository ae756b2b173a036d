/**
 * The same test in several sizes: runs try random options of system calls, while the host watches what it shares with
 * them.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { fuzzOptions } from '../../../scripts/option-fuzzing/fuzz.ts'
import { whyNoGuest } from '../../../scripts/option-fuzzing/guest.ts'
import { drawSeed } from '../seed.ts'

const seed = drawSeed()

export function testOptionFuzzing(seconds: number): void {
  describe('the corpus, and new programs,', { skip: whyNoGuest() }, () => {
    test(`for ${seconds} s, change nothing that the host shares with its guests`, async (context) => {
      const { signal } = new AbortController()
      const lines: string[] = []
      const report = await fuzzOptions({ seconds, seed, signal, say: (line) => void lines.push(line) })
      context.diagnostic(`npm run fuzz:options -- --seconds ${seconds} --seed ${seed}`)
      context.diagnostic(`level ${report.level}: ${report.tally.runs} runs, ${report.tally.calls} calls`)
      const found = report.findings.map(({ what, moved, from }) => `${what}, ${moved}, by ${from}`)
      assert.equal(report.findings.length, 0, [...found, ...lines].join('\n'))
      assert.ok(report.tally.calls > 10_000, `${report.tally.calls} calls`)
      assert.ok(report.neighbourRuns > 10, `${report.neighbourRuns} runs of neighbours`)
    })
  })
}
