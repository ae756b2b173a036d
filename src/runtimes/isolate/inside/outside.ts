/**
 * The functions of the Node process, each wrapped: an error of the Node process mentions places outside of the isolate, so
 * guest code gets an error of its own realm instead. An isolate receives the functions when it opens.
 */
import { messageOf } from '../../../core/primordials.ts'
import type { Outside } from './protocol.ts'

const OwnRangeError = RangeError
const { freeze } = Object

/** The order in which `open` receives the functions. */
export type OutsideList = readonly [
  log: Outside['log'],
  call: Outside['call'],
  random: Outside['random'],
  librarySource: Outside['librarySource'],
  settle: Outside['settle'],
  url: Outside['url'],
]

export function createOutside(): {
  readonly outside: Outside
  readonly connect: (functions: OutsideList) => void
} {
  let given: OutsideList
  const orOwnError = <Result>(act: () => Result): Result => {
    let reason: string
    try {
      return act()
    } catch (thrown) {
      reason = messageOf(thrown)
    }
    throw new OwnRangeError(reason)
  }
  const outside: Outside = {
    log: (level, text) => orOwnError(() => given[0](level, text)),
    call: (id, name, argumentsJson) => orOwnError(() => given[1](id, name, argumentsJson)),
    random: (bytes) => orOwnError(() => given[2](bytes)),
    librarySource: (name) => orOwnError(() => given[3](name)),
    settle: (outcomeJson) => orOwnError(() => given[4](outcomeJson)),
    url: (questionJson) => orOwnError(() => given[5](questionJson)),
  }
  return {
    outside,
    connect(functions) {
      given = freeze(functions)
    },
  }
}
