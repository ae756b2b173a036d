/** The limit on the bytes that a guest may send on its channel. */
import type { Limits } from '../../core/limits.ts'
import type { ChannelListener } from './channel-listener.ts'
import { textCharactersMax } from './claims.ts'

/** JSON may write one byte as six characters, such as `\u0000`. */
const escapeFactor = 6
/** The bytes of a message besides its value: the escaped text of the value, and the names of the fields. */
export const envelopeBytes = textCharactersMax * escapeFactor + 1024

/** Logs count against the output limit as text. The value, the displays and a call that is being received count as JSON. */
export function receivedBytesMax(
  { outputBytes, resultBytes }: Limits,
  { calls = null }: ChannelListener,
): number {
  return outputBytes * escapeFactor + (calls === null ? 2 : 3) * (resultBytes + envelopeBytes)
}
