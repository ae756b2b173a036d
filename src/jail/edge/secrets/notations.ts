/** The ways to write the bytes of a value. Each character of these texts may be spelled, and the case of letters is ignored. */

export interface Notation {
  /** The characters that its texts may have, whatever the value is. */
  readonly alphabet: RegExp
  readonly write: (value: string) => readonly string[]
  /** What a text for a value of a length takes at least and at most: everything else depends on no more than this. */
  readonly lengthMin: (valueLength: number) => number
  readonly lengthMax: (valueLength: number) => number
  /** Other characters that may stand for one. */
  readonly alike?: Readonly<Record<string, string>>
  /** What may stand between the bytes. */
  readonly separators?: string
  readonly hasLines: boolean
}

/** In a form, and in a header of mail, a space has a character of its own. */
export const itself: Notation = {
  alphabet: /[ -~]/,
  write: (value) => [value],
  lengthMin: (length) => length,
  lengthMax: (length) => length,
  alike: { ' ': '+_' },
  hasLines: false,
}

const decimal: Notation = {
  alphabet: /[\d,]/,
  write: (value) => [Buffer.from(value, 'latin1').join(',')],
  lengthMin: (length) => 3 * length - 1,
  lengthMax: (length) => 4 * length - 1,
  hasLines: false,
}

const hexadecimal: Notation = {
  alphabet: /[\da-f:-]/,
  write: (value) => [Buffer.from(value, 'latin1').toString('hex')],
  lengthMin: (length) => 2 * length,
  lengthMax: (length) => 2 * length,
  separators: ':-',
  hasLines: true,
}

const base64: Notation = {
  ...digits('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'),
  alphabet: /[\w+/-]/,
  alike: { '+': '-', '/': '_' },
}

const base32: Notation = { ...digits('abcdefghijklmnopqrstuvwxyz234567'), alphabet: /[a-z2-7]/ }

export const codes: readonly Notation[] = [decimal, hexadecimal, base64, base32]

/**
 * Bytes as digits of a few bits each, at every alignment with the bytes before them, without the digits at both ends that
 * also depend on the neighbouring bytes.
 */
function digits(alphabet: string): Omit<Notation, 'alphabet'> {
  const width = Math.log2(alphabet.length)
  const skipped = new Set(
    Array.from({ length: width }, (_, before) => (width - ((before * 8) % width)) % width),
  )
  const lengthAfter = (first: number, length: number) => Math.floor((length * 8 - first) / width)
  return {
    write: (value) => [...skipped].map((first) => digitsFrom(first, value)),
    lengthMin: (length) => lengthAfter(Math.max(...skipped), length),
    lengthMax: (length) => lengthAfter(0, length),
    hasLines: true,
  }

  function digitsFrom(first: number, value: string): string {
    const bytes = Buffer.from(value, 'latin1')
    return Array.from({ length: lengthAfter(first, bytes.length) }, (_, index) => {
      const bit = first + index * width
      const two = ((bytes[bit >> 3] ?? 0) << 8) | (bytes[(bit >> 3) + 1] ?? 0)
      return alphabet[(two >> (16 - (bit % 8) - width)) % alphabet.length] ?? ''
    }).join('')
  }
}
