/**
 * Decides whether work may begin, before anything is spent on it. The checks in order: what a request may ask for, the
 * operator's own function, the breakers, the rate, the queue. If a check refuses, the earlier ones undo what they have
 * counted.
 */
import { LazaretError } from '../core/errors/errors.ts'
import { snippetsAreOff } from '../core/errors/snippets-off.ts'
import { messageOf } from '../core/primordials.ts'
import type { WorkEnd } from '../core/work-end.ts'
import type { Work } from '../core/work.ts'
import { requireAccess, requireFolder, requireVariables } from './access.ts'
import type { AccessRules, FoundFolder } from './access.ts'
import { tryBoth } from './breaking.ts'
import type { WorkBreakers } from './breaking.ts'
import type { RateLimiter } from './rate-limiter.ts'
import type { Place, Room } from './room.ts'

/** Permission for one piece of work, which is returned when the work is over. */
export interface Ticket extends AsyncDisposable {
  readonly queuedMs: number
  /** Called once with the work's end, before the ticket is returned. */
  readonly ended?: (end: WorkEnd) => void
}

export interface Policy {
  /** Throws a LazaretError of kind `refusal` if the work may not begin. Aborting the signal ends the wait. */
  admit(work: Work, signal: AbortSignal): Promise<Ticket>
  /** Throws ACCESS_DENIED if later work with these variables would be refused. */
  readonly requireVariables?: (names: readonly string[]) => void
  /** Throws ACCESS_DENIED if a sandbox may not have this folder. */
  readonly requireFolder?: (folder: FoundFolder) => void
}

/** Throwing, rejecting and answering `false` refuse the work; every other answer admits it. */
export type Admit = (work: Work) => unknown

const noPlace: Place = { queuedMs: 0, leave: () => undefined }

export interface PolicyOptions {
  /** If it throws anything but a LazaretError, that becomes NOT_ADMITTED with the same message. */
  readonly admit?: Admit | undefined
  /** Default true. */
  readonly hasSnippets?: boolean
  /** Default: nothing beyond the work itself. */
  readonly access?: AccessRules
  /** Default: earlier failures refuse nothing. */
  readonly breakers?: WorkBreakers | undefined
  /** Default: no limit. */
  readonly rate?: RateLimiter | undefined
  /** Default: no queue. */
  readonly room?: Room | undefined
}

/** Combines the operator's options into one decision. */
export function policyOf(options: PolicyOptions): Policy {
  const { admit, hasSnippets = true, access = {}, breakers, rate, room } = options
  return {
    requireVariables: (names) => requireVariables(names, access),
    requireFolder: (folder) => requireFolder(folder, access),
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
          // If no end is reported, the work never began, and a half-open breaker must not wait for it.
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

/** Only executions count; preparing them and operations on files do not count separately. */
function isExecution({ kind }: Work): boolean {
  return (
    kind === 'run' || kind === 'command' || kind === 'process' || kind === 'code' || kind === 'validation'
  )
}

/**
 * How much room it takes. A command and a context's code take none: their memory is their sandbox's or context's, and if
 * they waited for slots, two that depend on each other could deadlock. Snippets and isolates have their own fixed number of
 * workers.
 */
function wishOf(work: Work): { memoryBytes: number; isStanding: boolean } | undefined {
  if (work.kind === 'sandbox' || work.kind === 'context')
    return { memoryBytes: work.limits.memoryBytes, isStanding: true }
  if (work.kind === 'validation') return { memoryBytes: work.limits.memoryBytes ?? 0, isStanding: false }
  if (work.kind !== 'run' || work.runtime === 'snippet' || work.runtime === 'isolate') return undefined
  return { memoryBytes: work.limits.memoryBytes ?? 0, isStanding: false }
}
