/**
 * May it begin? Asked before anything is spent, layer by layer: what a request may ask for, the operator's own function, the
 * breakers, the rate, the queue. A layer that refuses leaves no trace in those before it.
 */
import { LazaretError } from '../core/errors.ts'
import { messageOf } from '../core/primordials.ts'
import type { WorkEnd } from '../core/work-end.ts'
import type { Work } from '../core/work.ts'
import { requireAccess } from './access.ts'
import type { AccessRules } from './access.ts'
import { tryBoth } from './breaking.ts'
import type { WorkBreakers } from './breaking.ts'
import type { RateLimiter } from './rate-limiter.ts'
import type { Place, Room } from './room.ts'

/** Permission for one piece of work, given back when the work is over. */
export interface Ticket extends AsyncDisposable {
  readonly queuedMs: number
  /** Told once how the work ended, before the ticket is given back. */
  readonly ended?: (end: WorkEnd) => void
}

export interface Policy {
  /** Throws a LazaretError of kind `refusal` when the work may not begin. What waits stops when the signal is aborted. */
  admit(work: Work, signal: AbortSignal): Promise<Ticket>
}

/** Throwing, rejecting and answering `false` refuse the work; every other answer admits it. */
export type Admit = (work: Work) => unknown

const noPlace: Place = { queuedMs: 0, leave: () => undefined }

export interface PolicyOptions {
  /** What it throws that is no LazaretError becomes NOT_ADMITTED with the same message. */
  readonly admit?: Admit | undefined
  /** Default true. */
  readonly hasSnippets?: boolean
  /** Default: nothing beyond the work itself. */
  readonly access?: AccessRules
  /** Default: nothing is refused for what failed before. */
  readonly breakers?: WorkBreakers | undefined
  /** Default: no limit. */
  readonly rate?: RateLimiter | undefined
  /** Default: nobody waits. */
  readonly room?: Room | undefined
}

/** What the operator has decided. */
export function policyOf(options: PolicyOptions): Policy {
  const { admit, hasSnippets = true, access = {}, breakers, rate, room } = options
  return {
    async admit(work, signal) {
      if (!hasSnippets && 'runtime' in work && work.runtime === 'snippet') throw snippetsAreOff()
      requireAccess(work, access)
      if (admit !== undefined) await ask(admit, work)
      const { client = '' } = work
      const attempt = isExecution(work) && breakers !== undefined ? tryBoth(work, breakers) : undefined
      let uncount: (() => void) | undefined
      try {
        uncount = isExecution(work) ? rate?.take(client) : undefined
        const wish = room && wishOf(work)
        const entered = wish === undefined ? noPlace : room?.enter({ ...wish, client, signal })
        const { queuedMs, leave } = entered instanceof Promise ? await entered : (entered ?? noPlace)
        const ended = (end: WorkEnd) => attempt?.record(end)
        const giveBack = async () => {
          // Where nobody has said how it ended, it never began: a half-open breaker must not wait for it.
          attempt?.takeBack()
          leave()
        }
        return { queuedMs, ended, [Symbol.asyncDispose]: giveBack }
      } catch (error) {
        uncount?.()
        attempt?.takeBack()
        throw error
      }
    },
  }
}

async function ask(admit: Admit, work: Work): Promise<void> {
  let answer: unknown
  try {
    answer = await admit(work)
  } catch (error) {
    if (error instanceof LazaretError) throw error
    throw new LazaretError('NOT_ADMITTED', { detail: messageOf(error), cause: error })
  }
  if (answer === false) throw new LazaretError('NOT_ADMITTED')
}

/** What a client has executed; what prepares that, or looks at its files, counts with it. */
function isExecution({ kind }: Work): boolean {
  return kind === 'run' || kind === 'command' || kind === 'process'
}

/**
 * What it takes of the room. A command takes nothing: its memory is its sandbox's, and if it waited for a place, one that
 * another command waits for could wait for ever. Snippets and isolates have a fixed number of workers of their own.
 */
function wishOf(work: Work): { memoryBytes: number; isStanding: boolean } | undefined {
  if (work.kind === 'sandbox') return { memoryBytes: work.limits.memoryBytes, isStanding: true }
  if (work.kind !== 'run' || work.runtime === 'snippet' || work.runtime === 'isolate') return undefined
  return { memoryBytes: work.limits.memoryBytes ?? 0, isStanding: false }
}

/** The refusal of a snippet where the operator wants none. */
export function snippetsAreOff(): LazaretError {
  return new LazaretError('RUNTIME_UNAVAILABLE', {
    detail: 'The operator has switched snippets off: `pools.snippet.max` is 0.',
    hint: 'Choose another runtime, or raise it.',
  })
}
