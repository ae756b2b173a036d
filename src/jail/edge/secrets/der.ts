/** The part of DER (ITU-T X.690) that certificates need. */

const tags = {
  boolean: 0x01,
  integer: 0x02,
  bits: 0x03,
  octets: 0x04,
  identifier: 0x06,
  text: 0x0c,
  sequence: 0x30,
  set: 0x31,
  time: 0x17,
} as const

export type DerTag = keyof typeof tags

/** An element with this content. */
export function der(tag: DerTag | number, ...content: readonly Buffer[]): Buffer {
  const bytes = Buffer.concat(content)
  const number = typeof tag === 'number' ? tag : tags[tag]
  return Buffer.concat([Buffer.from([number]), lengthOf(bytes.length), bytes])
}

function lengthOf(length: number): Buffer {
  if (length < 0x80) return Buffer.from([length])
  if (length < 0x100) return Buffer.from([0x81, length])
  return Buffer.from([0x82, length >>> 8, length & 0xff])
}

/** An object identifier such as `2.5.4.3`. The first number is at most 2, the second below 40. */
export function derIdentifier(dotted: string): Buffer {
  const [first = 0, second = 0, ...others] = dotted.split('.').map(Number)
  return der('identifier', Buffer.from([40 * first + second, ...others.flatMap(base128)]))
}

function base128(number: number): number[] {
  const digits = [number & 0x7f]
  for (let rest = number >>> 7; rest > 0; rest >>>= 7) digits.unshift((rest & 0x7f) | 0x80)
  return digits
}

/** A time such as `2026-11-27T00:00:00.000Z`, from 1950 to 2049: UTCTime has two digits for the year. */
export function derTime(timestamp: string): Buffer {
  return der('time', Buffer.from(`${timestamp.slice(2, 19).replaceAll(/\D/g, '')}Z`))
}

/** A bit string. `unused` is the number of unused bits at the end of the last byte. */
export const derBits = (bytes: Buffer, unused = 0): Buffer => der('bits', Buffer.from([unused]), bytes)
export const derTrue = der('boolean', Buffer.from([0xff]))
