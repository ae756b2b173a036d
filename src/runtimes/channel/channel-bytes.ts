/** How much a guest may send over its channel. */
import type { Limits } from '../../core/limits.ts'
import type { ChannelListener } from './channel-listener.ts'
import { textCharactersMax } from './claims.ts'

/** JSON writes a control character as six. */
const escapeFactor = 6
/** What surrounds a value in its message: its text, escaped, and the names of the fields. */
export const envelopeBytes = textCharactersMax * escapeFactor + 1024

/** Logs are counted as text, the value, the displays and a call that is on its way as JSON. */
export function receivedBytesMax(
  { outputBytes, resultBytes }: Limits,
  { calls = null }: ChannelListener,
): number {
  return outputBytes * escapeFactor + (calls === null ? 2 : 3) * (resultBytes + envelopeBytes)
}
