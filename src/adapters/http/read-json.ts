/**
 * JSON of a client, measured before it is parsed: its length says little about its cost. Parsing eight megabytes of
 * `{}`, checking them and encoding them for a guest would block the event loop for seconds.
 */
import { loopTurns } from '../../runtimes/channel/loop-turns.ts'
import { measureMessage } from '../../runtimes/channel/message-cost.ts'
import { LazaretError } from '../../core/errors/errors.ts'

/** A message at any one of these bounds blocks the event loop for some ten milliseconds. See docs/operate/mcp.md. */
export const messageMost = { containers: 30_000, keys: 10_000, members: 200_000 } as const

/** `undefined` for invalid JSON: the handler answers in the terms of its protocol. Throws INPUT_TOO_LARGE. */
export async function readJson(bytes: Buffer): Promise<unknown> {
  const { containers, keys, members } = await loopTurns.perform(measureMessage(bytes))
  if (containers > messageMost.containers || keys > messageMost.keys || members > messageMost.members)
    throw new LazaretError('INPUT_TOO_LARGE', { detail: tooMuch })
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch {
    return undefined
  }
}

const figure = new Intl.NumberFormat('en-US')
const tooMuch = [
  `A body has at most ${figure.format(messageMost.containers)} lists and objects,`,
  `${figure.format(messageMost.keys)} different keys and ${figure.format(messageMost.members)} members.`,
  'Send large data as a string, and parse it in the program.',
].join(' ')
