/**
 * Which displays of a run are pictures. A guest chose the bytes, and a model API refuses a whole conversation because
 * of one invalid picture, so each must begin as its format does. Pure.
 */
import { fromBase64, toBase64 } from '../core/values/base64.ts'
import type { MimeBundle } from '../core/output.ts'
import type { ResultImage } from '../core/result.ts'

/** The formats that models read, and how their files begin: a character for each byte, and the same in base64. */
const beginnings: Readonly<
  Record<ResultImage['mimeType'], { readonly bytes: RegExp; readonly base64: RegExp }>
> = {
  // eslint-disable-next-line no-control-regex
  'image/png': { bytes: /^\x89PNG\r\n\x1a\n/, base64: /^iVBORw0KGg[o-r]/ },
  'image/jpeg': { bytes: /^\xff\xd8\xff/, base64: /^\/9j\// },
  'image/gif': { bytes: /^GIF8[79]a/, base64: /^R0lGOD[dl]h/ },
  'image/webp': { bytes: /^RIFF.{4}WEBP/s, base64: /^UklGR/ },
}
/** At least as long as the longest of these beginnings. */
const beginningBytes = 16

/**
 * The base64 of a picture's first bytes, with room for line ends, so that other data need not be decoded completely.
 */
const headLength = 1024
/** Nothing stands between the first digits, so they can be compared without being decoded. */
const isPlain = /^[A-Za-z0-9+/]{11}/

/** The first picture of a bundle that matches its type. */
export function findImage(bundle: MimeBundle): ResultImage | undefined {
  for (const mimeType of Object.keys(beginnings) as ResultImage['mimeType'][]) {
    const text = Object.hasOwn(bundle, mimeType) ? bundle[mimeType] : undefined
    if (text === undefined) continue
    const { bytes, base64 } = beginnings[mimeType]
    if (isPlain.test(text) && !base64.test(text)) continue
    const head = fromBase64(text.slice(0, headLength)).subarray(0, beginningBytes)
    if (!bytes.test(String.fromCharCode(...head))) continue
    return { mimeType, data: toBase64(fromBase64(text)) }
  }
  return undefined
}
