/** The base64 functions of Node's `Buffer` that the encoder of values uses, for realms without `Buffer`. */
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

export const LanguageBuffer = {
  prototype: {
    base64Slice(this: Uint8Array, start: number, end: number): string {
      let text = ''
      for (let index = start; index < end; index += 3) {
        const left = end - index
        const bits =
          ((this[index] as number) << 16) |
          ((left > 1 ? (this[index + 1] as number) : 0) << 8) |
          (left > 2 ? (this[index + 2] as number) : 0)
        text += `${alphabet[bits >> 18]}${alphabet[(bits >> 12) & 63]}`
        text += left > 1 ? alphabet[(bits >> 6) & 63] : '='
        text += left > 2 ? alphabet[bits & 63] : '='
      }
      return text
    },
  },
  from(text: string): Uint8Array {
    const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
    const bytes = new Uint8Array((text.length / 4) * 3 - padding)
    for (let index = 0, at = 0; index < text.length; index += 4) {
      let bits = 0
      for (let part = 0; part < 4; part++)
        bits = (bits << 6) | (alphabet.indexOf(text[index + part] as string) & 63)
      for (let part = 2; part >= 0 && at < bytes.length; part--) bytes[at++] = (bits >> (8 * part)) & 0xff
    }
    return bytes
  },
}
