/**
 * `npm run differ`: programs in every way that Lazaret can run them, and in the plain engine, compared with their cold
 * start: those of the other suites, and random ones. `-- --help` lists the options.
 */
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'

import { corpusOf } from '../test/differential/corpus.ts'
import { generateNamed, generate } from '../test/differential/generate.ts'
import { judgeAll, unusedRows } from '../test/differential/judge.ts'
import { engines } from '../test/differential/program.ts'
import type { Engine, Program } from '../test/differential/program.ts'
import { describeFinding, shrink } from '../test/differential/shrink.ts'
import { openWays } from '../test/differential/ways.ts'

const usage = `npm run differ -- [options]
  --engine NAME   ${engines.join(', ')} (all, one after another)
  --count N       random programs of each engine (100)
  --seed N        generates the same programs again
  --only NAME     only the program of this name
  --from N        skips that many programs
  --no-corpus     only random programs
  --json FILE     writes the differences there, unshortened

The exit code is 0 if every difference is documented, and 1 otherwise.
`
const { values } = parseArgs({
  options: {
    engine: { type: 'string' },
    count: { type: 'string', default: '100' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    only: { type: 'string' },
    from: { type: 'string', default: '0' },
    'no-corpus': { type: 'boolean', default: false },
    json: { type: 'string' },
    help: { type: 'boolean', short: 'h', default: false },
  },
})

process.exitCode = await main()

async function main(): Promise<number> {
  const chosen = engines.filter((name) => values.engine === undefined || values.engine === name)
  const [count, seed, from] = [Number(values.count), Number(values.seed), Number(values.from)]
  if (values.help || chosen.length === 0 || ![count, seed, from].every(Number.isInteger)) {
    process.stderr.write(usage)
    return values.help ? 0 : 64
  }
  await using ways = await openWays()
  let undocumented = 0
  for (const engine of chosen) {
    const programs = (await choose(engine, seed, count)).slice(from)
    const tally = await judgeAll(ways, programs, ({ program, way, field }) =>
      process.stderr.write(`${program.engine}, ${way}, ${field}: ${program.name}\n`),
    )
    undocumented += tally.undocumented.length
    if (values.json !== undefined) writeFileSync(values.json, JSON.stringify(tally.undocumented))
    else
      for (const finding of tally.undocumented)
        console.log(`${describeFinding(await shrink(ways, finding))}\n`)
    for (const { program, way, field } of tally.unsteady)
      console.log(`not the same twice: ${program.engine}, ${way}, ${field}: ${program.name}`)
    for (const row of unusedRows(tally, engine)) console.log(`explained nothing: ${row.what}`)
    console.log(
      `${engine}, seed ${seed}: ${tally.programs} programs, each cold and ${JSON.stringify(tally.ran)}`,
    )
    console.log(`${tally.undocumented.length} undocumented differences`)
  }
  return undocumented === 0 ? 0 : 1
}

async function choose(engine: Engine, seed: number, count: number): Promise<Program[]> {
  const corpus = values['no-corpus'] ? [] : await corpusOf(engine)
  if (values.only === undefined) return [...corpus, ...generate(engine, seed, count)]
  const named = generateNamed(engine, values.only)
  return [...corpus, ...(named === undefined ? [] : [named])].filter(({ name }) => name === values.only)
}
