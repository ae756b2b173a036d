/**
 * Which displays of a run are pictures. The bytes are a guest's: a client that hands a model something else under the name
 * of a picture loses the conversation, so each has to begin as its format does. Pure.
 */
import type { MimeBundle } from '../../core/result.ts'

export interface Picture {
  readonly mimeType: string
  /** Base64. */
  readonly data: string
}

/** Those that models read, and how their files begin. */
const beginnings: Readonly<Record<string, (bytes: Buffer) => boolean>> = {
  'image/png': (bytes) => bytes.subarray(0, 8).equals(Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')),
  'image/jpeg': (bytes) => bytes.subarray(0, 3).equals(Buffer.from([0xff, 0xd8, 0xff])),
  'image/gif': (bytes) => /^GIF8[79]a/.test(bytes.toString('latin1', 0, 6)),
  'image/webp': (bytes) => /^RIFF.{4}WEBP/s.test(bytes.toString('latin1', 0, 12)),
}

/** The first format of a bundle that is what its name says. */
export function findPicture(bundle: MimeBundle): Picture | undefined {
  for (const [mimeType, begins] of Object.entries(beginnings)) {
    const text = Object.hasOwn(bundle, mimeType) ? bundle[mimeType] : undefined
    if (text === undefined) continue
    const bytes = Buffer.from(text, 'base64')
    if (begins(bytes)) return { mimeType, data: bytes.toString('base64') }
  }
  return undefined
}
