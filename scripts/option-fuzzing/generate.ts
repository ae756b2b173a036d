/** Generates a program from a seed and an iteration: the same one every time. */
import { seededRandom } from '../../test/support/seeded-random.ts'
import type { AllowedValues } from './allowed-values.ts'
import { openSocket, openSomething } from './descriptors.ts'
import { Draft } from './draft.ts'
import { families } from './families.ts'
import type { Family } from './families.ts'
import type { CallProcess, Program } from './program.ts'

/** Short, so that many programs are tried; occasionally long, for effects that accumulate. */
const wallsMs = [40, 100, 100, 400]

/** Iterations of one seed must differ from those of the next seed. */
const stride = 1_000_003

export function generateProgram(seed: number, iteration: number, allowed: AllowedValues): Program {
  const random = seededRandom(Math.imul(seed, stride) + iteration)
  const count = 1 + Math.floor(random() * 4)
  return Array.from({ length: count }, () => generateProcess(random, allowed))
}

/**
 * Few families in one process, so that its repetitions are of one kind; and occasionally nothing is closed, so that
 * descriptors accumulate as far as the limits allow.
 */
function generateProcess(random: () => number, allowed: AllowedValues): CallProcess {
  const draft = new Draft(random, allowed)
  const chosen = Array.from({ length: 1 + Math.floor(random() * 3) }, () => pickFamily(random))
  const opened = 1 + Math.floor(random() * 4)
  for (let at = 0; at < opened; at++) openSomething(draft)
  if (chosen.some(({ wants }) => wants === 'a socket')) openSocket(draft)
  // Tidy processes open descriptors in each round and close them again.
  const isTidy = draft.chance(0.5)
  if (!isTidy) draft.call('again')
  const uses = 2 + Math.floor(random() * 10)
  for (let at = 0; at < uses && !draft.isFull; at++) draft.pick(chosen).draft(draft)
  const opens = draft.calls.filter(({ name }) =>
    /open|socket$|accept|create|init|eventfd|signalfd/.test(name),
  )
  if (isTidy)
    for (const { label } of opens.slice(0, 63 - draft.calls.length)) draft.call('close', `$${label}`)
  const repeats = draft.pick([1, 20, 300, 5000, 100_000])
  const wallMs = draft.pick(wallsMs)
  return { repeats, wallMs, threads: draft.chance(0.2) ? 2 : 1, calls: draft.calls.slice(0, 64) }
}

function pickFamily(random: () => number): Family {
  let left = random() * families.reduce((sum, { weight }) => sum + weight, 0)
  for (const family of families) {
    left -= family.weight
    if (left < 0) return family
  }
  throw new Error('The weights do not add up.')
}
