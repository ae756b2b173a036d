/** All kinds in all their languages, shuffled: an endless sequence of cases, the same for the same seed. */
import { seededRandom } from '../../test/support/seeded-random.ts'
import { badEnds } from './bad-ends.ts'
import { generousLimits, pick } from './case.ts'
import type { Guest, Kind, SoakCase, SoakMachine } from './case.ts'
import { everydayKinds } from './everyday-kinds.ts'
import { hostileKinds } from './hostile-kinds.ts'

/** The kinds of a soak. */
export const kinds: readonly Kind[] = [...everydayKinds, ...badEnds]

/** The kinds of a stress test: everything hostile, and an equal number of honest runs. */
export const stressKinds: readonly Kind[] = [
  ...everydayKinds.map((kind) => ({ ...kind, copies: 1 })),
  ...badEnds.map((kind) => ({ ...kind, copies: 1 })),
  ...hostileKinds,
]

interface Card {
  readonly kind: Kind
  readonly guest: Guest
}

export interface Deal {
  readonly seed: number
  readonly machine: SoakMachine
  /** Default: those of a soak. */
  readonly kinds?: readonly Kind[] | undefined
}

export function* dealCases({ seed, machine, kinds: dealt = kinds }: Deal): Generator<SoakCase, never> {
  const random = seededRandom(seed)
  const deck: readonly Card[] = dealt.flatMap((kind) =>
    kind.guests.flatMap((guest) => Array.from({ length: kind.copies }, () => ({ kind, guest }))),
  )
  for (let index = 0; ;) {
    for (const { kind, guest } of shuffle(deck, random)) {
      const token = `token-${index}-${pick(random, 1e9)}`
      const ticket = { index, token, random, machine }
      const { request, check } = kind.draft(guest, ticket)
      const { runtime, language } = guest
      // Limits that do not matter to the case differ from run to run, too.
      const limits = { ...generousLimits(ticket), ...request.limits }
      const client = `client ${index % 2}`
      yield {
        kind: kind.name,
        name: `${index}: ${guest.name} ${kind.name}`,
        request: { ...request, runtime, language, limits, client },
        check,
      }
      index++
    }
  }
}

function shuffle<T>(items: readonly T[], random: () => number): T[] {
  const left = [...items]
  return items.flatMap(() => left.splice(pick(random, left.length), 1))
}
