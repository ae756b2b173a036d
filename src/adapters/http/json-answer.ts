/** A document as an answer in JSON: written piece by piece as it is sent, so that only the document itself is held. */
import { jsonPieces, plainOf } from '../../core/values/json-steps.ts'
import { weigh } from '../../core/values/weigh.ts'
import { loopTurns } from '../../runtimes/channel/loop-turns.ts'

export interface JsonAnswer {
  readonly pieces: AsyncIterable<Buffer>
  /** Undefined for a long one, which is sent without its length. */
  readonly bytes: number | undefined
}

/** A short document is one piece; what a long one takes is reserved with `hold` first. Throws what `hold` throws. */
export async function openJson(document: unknown, hold: (bytes: number) => void): Promise<JsonAnswer> {
  const plain = plainOf(document)
  const pieces = loopTurns.stream(jsonPieces(plain))
  const first = await pieces.next()
  const second = await pieces.next()
  const begun = [first, second].flatMap(({ done, value }) => (done === true ? [] : [value]))
  if (second.done === true)
    return { pieces: follow(begun, pieces), bytes: begun.reduce((sum, { length }) => sum + length, 0) }
  hold(await loopTurns.perform(weigh(plain)))
  return { pieces: follow(begun, pieces), bytes: undefined }
}

async function* follow(begun: readonly Buffer[], rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield* begun
  yield* rest
}
