/**
 * `npm run fuzz:resolver -- --seconds 600 --seed 7`: the resolver's parser against mutated questions. Prints how many there
 * were and their results; throws at the first that is read or answered wrongly.
 */
import { parseArgs } from 'node:util'

import { seededRandom } from '../test/support/seeded-random.ts'
import { fuzzResolver } from './fuzzing/resolver.ts'

const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '60' }, seed: { type: 'string' } },
})
const seed = Number(values.seed ?? Date.now() % 1_000_000)
const until = performance.now() + Number(values.seconds) * 1000
process.stdout.write(`seed ${seed}\n`)
const { datagrams, ends } = fuzzResolver(seededRandom(seed), () => performance.now() < until)
process.stdout.write(`${datagrams} datagrams: ${JSON.stringify(ends)}\n`)
