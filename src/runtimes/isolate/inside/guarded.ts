/**
 * The functions of the Node process, with a guard before each: what one throws was made elsewhere and names places outside,
 * so guest code gets an error of its own in its place.
 */
import { messageOf } from '../../../core/primordials.ts'
import type { Outside } from './protocol.ts'

const OwnRangeError = RangeError

export function guarded({ log, call, random, librarySource }: Outside): Outside {
  const orOwnError = <Result>(act: () => Result): Result => {
    let reason: string
    try {
      return act()
    } catch (thrown) {
      reason = messageOf(thrown)
    }
    throw new OwnRangeError(reason)
  }
  return {
    log: (level, text) => orOwnError(() => log(level, text)),
    call: (id, name, argumentsJson) => orOwnError(() => call(id, name, argumentsJson)),
    random: (bytes) => orOwnError(() => random(bytes)),
    librarySource: (name) => orOwnError(() => librarySource(name)),
  }
}
