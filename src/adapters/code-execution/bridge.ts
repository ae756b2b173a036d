/** Functions of the caller, for programs that pass and receive JSON as texts. Guests choose the texts. */
import { defaultLimits } from '../../core/limits.ts'
import type { HostFunction } from '../../core/request.ts'
import type { Steps } from '../../core/steps.ts'
import { JsonReader, TooCostly } from '../../runtimes/channel/json-reader.ts'
import { loopTurns } from '../../runtimes/channel/loop-turns.ts'
import { measureMessage } from '../../runtimes/channel/message-cost.ts'
import { MessageRoom } from '../../runtimes/channel/message-room.ts'

/** The engine parses shorter texts in less than a millisecond, whatever they contain. */
const shortLength = 16 * 1024
/** Takes some microseconds, or a millisecond in a long string. */
const stepsAtOnce = 32
/** More than programs can write. */
const levelsMax = 1024

/** Undefined for values that JSON leaves out. */
export const toJson = JSON.stringify as (value: unknown) => string | undefined
const parse = JSON.parse as (json: string) => unknown

export function toHostFunction(call: (value: unknown) => unknown): HostFunction {
  return async (json: unknown) => {
    // Only a forged message has anything else, and converting that to a string may take for ever.
    if (typeof json !== 'string') throw new TypeError('The arguments are no JSON.')
    const [argument] = (
      json.length <= shortLength ? parse(json) : await loopTurns.perform(readLong(json))
    ) as unknown[]
    return toJson(await call(argument)) ?? 'null'
  }
}

/** The room for messages does not cover what is in this text, because for the message it is one string. */
function* readLong(json: string): Steps<unknown> {
  const room = new MessageRoom(defaultLimits.resultBytes)
  const tooMuch = `The argument holds more than ${room.tooMuch}.`
  if (!room.take(yield* measureMessage(Buffer.from(json)))) throw new RangeError(tooMuch)
  const reader = new JsonReader(json, { levelsMax, itemsMax: room.itemsMax })
  try {
    while (!reader.advance(stepsAtOnce)) yield
  } catch (thrown) {
    throw thrown instanceof TooCostly ? new RangeError(tooMuch) : thrown
  }
  return reader.value
}
