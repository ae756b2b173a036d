import type { Steps } from '../core/steps.ts'
import { sliceText } from '../core/text-slices.ts'

const lengthBytes = 4

/** A message to the harness: its length in four bytes, then its JSON. */
export function frameMessage(json: string): Buffer {
  const bytes = Buffer.byteLength(json)
  const frame = Buffer.allocUnsafe(lengthBytes + bytes)
  frame.writeUInt32LE(bytes)
  frame.write(json, lengthBytes, 'utf8')
  return frame
}

/** The same of a JSON that comes as several texts, in pieces that are made one a step: joining long texts takes long, too. */
export function* frameLongMessage(texts: readonly string[]): Steps<readonly Buffer[]> {
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
