/** The part of `TextEncoder` that the encoder of values uses, for realms without `TextEncoder`. */
export class LanguageTextEncoder {
  /** UTF-8; a lone surrogate becomes U+FFFD. */
  encode(text: string): Uint8Array {
    const bytes = new Uint8Array(text.length * 3)
    let length = 0
    for (let index = 0; index < text.length; index++) {
      let code = text.codePointAt(index) as number
      if (code > 0xff_ff) index++
      else if (code >= 0xd8_00 && code < 0xe0_00) code = 0xff_fd
      if (code < 0x80) bytes[length++] = code
      else {
        const more = code < 0x8_00 ? 1 : code < 0x1_00_00 ? 2 : 3
        bytes[length++] = (firstByte[more] as number) | (code >> (6 * more))
        for (let rest = more - 1; rest >= 0; rest--) bytes[length++] = 0x80 | ((code >> (6 * rest)) & 0x3f)
      }
    }
    return bytes.subarray(0, length)
  }
}

/** The high bits of a character's first byte, by the number of bytes that follow it. */
const firstByte = [0, 0xc0, 0xe0, 0xf0]
