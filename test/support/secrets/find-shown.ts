/** Random secrets, and the check that nothing is left of one in any piece of an answer. */
import { HiddenValues } from '../../../src/jail/edge/secrets/hidden-values.ts'
import { Masker, maskText } from '../../../src/jail/edge/secrets/masker.ts'

const characters = (pattern: RegExp) =>
  Array.from({ length: 0x7f - 0x20 }, (_, index) => String.fromCharCode(0x20 + index)).filter((one) =>
    pattern.test(one),
  )
const alphabets = [
  /\w/,
  /[\w.~-]/,
  /[\w+/=]/,
  /[\w~!'()*%+/=&"\\-]/,
  /[~!'()*%+/=&"\\<>]/,
  /[!-~]/,
  /[ -~]/,
].map(characters)
const lengths = [8, 12, 16, 20, 24, 40, 64, 100]

/** A few are looked for together, as the secrets of a host are. */
const groupLength = 8

export interface DrawnSecret {
  readonly value: string
  readonly hidden: HiddenValues
}

export function drawSecrets(count: number, random: () => number): DrawnSecret[] {
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T
  const values = Array.from({ length: count }, () => {
    const alphabet = pick(alphabets)
    return Array.from({ length: pick(lengths) }, () => pick(alphabet)).join('')
  })
  const starts = values.keys().filter((index) => index % groupLength === 0)
  return [...starts].flatMap((start) => {
    const group = values.slice(start, start + groupLength)
    const hidden = new HiddenValues(group)
    return group.map((value) => ({ value, hidden }))
  })
}

/** At both ends of a code, characters also depend on the neighbouring bytes. */
const remains = /^[^*]?\*+[^*]?(?:=|%3D)*$/
const isCode = (encoder: string): boolean => /base64|b64|b32|MIME|chunk_split|PEM/.test(encoder)

interface Encoded {
  readonly encoder: string
  readonly text: string
  readonly hidden: HiddenValues
}

/** Returns an answer in which an encoded secret comes back, in pieces that end anywhere; undefined if it does not. */
export function findShown(
  { encoder, text: encoded, hidden }: Encoded,
  random: () => number,
): string | undefined {
  const text = Buffer.from(`[ ${encoded} ]`, 'latin1')
  const masker = new Masker(hidden)
  const shown: Buffer[] = []
  for (let at = 0; at < text.length;) {
    const length = 1 + Math.floor(random() * (random() < 0.5 ? 4 : text.length))
    shown.push(masker.push(text.subarray(at, at + length)))
    at += length
  }
  const all = Buffer.concat([...shown, masker.end()]).toString('latin1')
  const rest = all.slice(2, -2).replaceAll(/[\r\n\0]|\\[rn]|%0[AD]/g, '')
  const isHidden = isCode(encoder) ? remains.test(rest) : /^\*+$/.test(rest)
  return isHidden && all === maskText(text.toString('latin1'), hidden) ? undefined : all
}
