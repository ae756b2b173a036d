/** Bytes as text and back, with a Buffer or without one, as in a browser. */

const hasBuffer = typeof Buffer !== 'undefined'
/** Every engine can pass this many arguments to one call. */
const bytesAtOnce = 8192

/** Never throws: characters outside base64 are skipped, and the first `=` ends the text. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  if (hasBuffer) return Buffer.from(text, 'base64')
  const [digits = ''] = text.replaceAll('-', '+').replaceAll('_', '/').split('=')
  const plain = digits.replace(/[^A-Za-z0-9+/]/g, '')
  // A single digit at the end is less than a byte.
  const whole = plain.length % 4 === 1 ? plain.slice(0, -1) : plain
  return Uint8Array.from(atob(whole), (character) => character.charCodeAt(0))
}

export function toBase64(bytes: Uint8Array): string {
  if (hasBuffer) return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
  let text = ''
  for (let at = 0; at < bytes.length; at += bytesAtOnce)
    text += String.fromCharCode(...bytes.subarray(at, at + bytesAtOnce))
  return btoa(text)
}
