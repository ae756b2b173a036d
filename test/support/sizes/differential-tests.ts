/** The same comparison in several sizes: the programs of an engine in every way that Lazaret can run them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { corpusOf } from '../../differential/corpus.ts'
import { generate } from '../../differential/generate.ts'
import { judgeAll, unusedRows } from '../../differential/judge.ts'
import type { Engine } from '../../differential/program.ts'
import { describeFinding, shrink } from '../../differential/shrink.ts'
import { openWays } from '../../differential/ways.ts'
import { levelHere } from '../machine/level-here.ts'
import { drawSeed } from '../seed.ts'

/** All programs of the other suites, and as many random ones. */
export async function testDifferential(engine: Engine, generated: number): Promise<void> {
  const skip = (await levelHere()) === 'restricted' && 'a context needs namespaces'
  const seed = drawSeed()
  test(
    `each program of ${engine} has the same result in every way, or the table says why not`,
    { skip },
    async (context) => {
      context.diagnostic(`npm run differ -- --engine ${engine} --seed ${seed} --count ${generated}`)
      await using ways = await openWays()
      const tally = await judgeAll(ways, [...(await corpusOf(engine)), ...generate(engine, seed, generated)])
      context.diagnostic(`${tally.programs} programs, each cold and ${JSON.stringify(tally.ran)}`)
      const told: string[] = []
      for (const finding of tally.undocumented) told.push(describeFinding(await shrink(ways, finding)))
      assert.deepEqual(told, [])
      assert.deepEqual(
        unusedRows(tally, engine).map(({ what }) => what),
        [],
      )
    },
  )
}
