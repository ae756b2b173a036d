/**
 * May it begin? Asked before anything is spent. Rate limits, the queue, the breaker and the validators will stand behind
 * this seam; until then it is the operator's own function, or everything is admitted at once.
 */
import { LazaretError } from '../core/errors.ts'
import { messageOf } from '../core/primordials.ts'
import type { Work } from '../core/work.ts'
import { requireAccess } from './access.ts'
import type { AccessRules } from './access.ts'

/** Permission for one piece of work, given back when the work is over. */
export interface Ticket extends AsyncDisposable {
  readonly queuedMs: number
}

export interface Policy {
  /** Throws a LazaretError of kind `refusal` when the work may not begin. */
  admit(work: Work): Promise<Ticket>
}

/** Throwing, rejecting and answering `false` refuse the work; every other answer admits it. */
export type Admit = (work: Work) => unknown

const ticket: Ticket = { queuedMs: 0, async [Symbol.asyncDispose]() {} }

export interface PolicyOptions {
  /** What it throws that is no LazaretError becomes NOT_ADMITTED with the same message. */
  readonly admit?: Admit | undefined
  /** Default true. */
  readonly hasSnippets?: boolean
  /** Default: nothing beyond the work itself. */
  readonly access?: AccessRules
}

/** What the operator has decided. */
export function policyOf({ admit, hasSnippets = true, access = {} }: PolicyOptions): Policy {
  return {
    async admit(work) {
      if (!hasSnippets && 'runtime' in work && work.runtime === 'snippet') throw snippetsAreOff()
      requireAccess(work, access)
      let answer: unknown
      try {
        answer = await admit?.(work)
      } catch (error) {
        if (error instanceof LazaretError) throw error
        throw new LazaretError('NOT_ADMITTED', { detail: messageOf(error), cause: error })
      }
      if (answer === false) throw new LazaretError('NOT_ADMITTED')
      return ticket
    },
  }
}

/** The refusal of a snippet where the operator wants none. */
export function snippetsAreOff(): LazaretError {
  return new LazaretError('RUNTIME_UNAVAILABLE', {
    detail: 'The operator has switched snippets off: `pools.snippet.max` is 0.',
    hint: 'Choose another runtime, or raise it.',
  })
}
