/** Decodes bytes a block at a time: the engine is slow with invalid UTF-8, and the event loop has to run in between. */
import { StringDecoder } from 'node:string_decoder'

import type { Steps } from '../core/steps.ts'

/** The engine takes a millisecond to decode this many bytes of invalid UTF-8. */
const blockBytesMax = 128 * 1024

export function decodeInBlocks(bytes: Buffer, encoding: 'utf8' | 'base64'): Steps<string> {
  return decodeAll([bytes], encoding)
}

/** The same for bytes in pieces of any size. If they are cut, a last character that lacks some of its bytes is left out. */
export function* decodeAll(
  pieces: Iterable<Buffer>,
  encoding: 'utf8' | 'base64',
  { isCut = false } = {},
): Steps<string> {
  const decoder = new StringDecoder(encoding)
  const texts: string[] = []
  for (const bytes of pieces)
    for (let at = 0; at < bytes.length; at += blockBytesMax) {
      texts.push(decoder.write(bytes.subarray(at, at + blockBytesMax)))
      yield
    }
  if (!isCut) texts.push(decoder.end())
  return texts.join('')
}
