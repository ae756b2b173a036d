import type { Steps } from '../../core/steps.ts'
import { sliceText } from '../../core/values/text-slices.ts'
import type { GuestRequest } from './channel-protocol.ts'

const lengthBytes = 4
/** A message of at most this many characters is encoded in one step and written at once: each write wakes the guest. */
const shortLength = 64 * 1024

/** A message to the harness: its length in four bytes, then its JSON. */
export function frameMessage(json: string): Buffer {
  const bytes = Buffer.byteLength(json)
  const frame = Buffer.allocUnsafe(lengthBytes + bytes)
  frame.writeUInt32LE(bytes)
  frame.write(json, lengthBytes, 'utf8')
  return frame
}

export function encodeGuestRequest(request: GuestRequest): Buffer {
  return frameMessage(JSON.stringify(request))
}

/** Frames JSON that is given as several texts. A long message is returned in pieces, one made in each step, and not joined. */
export function* frameLongMessage(texts: readonly string[]): Steps<readonly Buffer[]> {
  if (texts.reduce((sum, text) => sum + text.length, 0) <= shortLength) return [frameMessage(texts.join(''))]
  const length = Buffer.alloc(lengthBytes)
  const pieces = [length]
  let bytes = 0
  for (const text of texts)
    for (let at = 0; at < text.length; yield) {
      const slice = sliceText(text, at)
      const piece = Buffer.from(slice.text)
      bytes += piece.length
      pieces.push(piece)
      at = slice.end
    }
  length.writeUInt32LE(bytes)
  return pieces
}
