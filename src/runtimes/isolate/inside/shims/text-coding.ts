/** `TextEncoder` and `TextDecoder` for UTF-8, the only supported encoding. */
import { bytesLength, stringCodeAt } from '../../../../core/primordials.ts'
import { readBinary } from '../../../../core/values/read-value.ts'

const { fromCharCode } = String
const { freeze } = Object
const NativeTypeError = TypeError
const NativeRangeError = RangeError
const Bytes = Uint8Array
const labels = /^\s*(?:utf-?8|unicode-1-1-utf-8|unicode11utf8|unicode20utf8|x-unicode20utf8)\s*$/i
const replacement = 0xff_fd
const byteOrderMark = 0xfe_ff

export function createTextEncoder(): unknown {
  class TextEncoder {
    get encoding(): string {
      return 'utf-8'
    }
    encode(text: unknown = ''): Uint8Array {
      const source = `${text as string}`
      const bytes = new Bytes(source.length * 3)
      const { written } = encodeInto(source, bytes)
      return bytes.slice(0, written)
    }
    encodeInto(text: unknown, target: Uint8Array): { read: number; written: number } {
      return encodeInto(`${text as string}`, target)
    }
  }
  return frozen(TextEncoder)
}

/** Writes whole characters only. A lone surrogate becomes U+FFFD. */
function encodeInto(text: string, target: Uint8Array): { read: number; written: number } {
  const room = bytesLength(target)
  let written = 0
  let read = 0
  while (read < text.length) {
    let code = stringCodeAt(text, read)
    let units = 1
    if (code >= 0xd8_00 && code < 0xe0_00) {
      const next = read + 1 < text.length ? stringCodeAt(text, read + 1) : 0
      const isPair = code < 0xdc_00 && next >= 0xdc_00 && next < 0xe0_00
      code = isPair ? (code - 0xd8_00) * 0x4_00 + (next - 0xdc_00) + 0x1_00_00 : replacement
      if (isPair) units = 2
    }
    const length = code < 0x80 ? 1 : code < 0x8_00 ? 2 : code < 0x1_00_00 ? 3 : 4
    if (written + length > room) break
    writeCharacter(target, written, { code, length })
    written += length
    read += units
  }
  return { read, written }
}

const firstByte = [0, 0, 0xc0, 0xe0, 0xf0]

function writeCharacter(
  target: Uint8Array,
  at: number,
  { code, length }: { code: number; length: number },
): void {
  target[at] = (firstByte[length] as number) | (code >> (6 * (length - 1)))
  for (let rest = length - 2; rest >= 0; rest--)
    target[at + length - 1 - rest] = 0x80 | ((code >> (6 * rest)) & 0x3f)
}

export function createTextDecoder(): unknown {
  class TextDecoder {
    readonly #isFatal: boolean
    readonly #keepsMark: boolean
    #state: DecodeState = newState()
    constructor(label: unknown = 'utf-8', options: { fatal?: unknown; ignoreBOM?: unknown } = {}) {
      if (!labels.test(`${label as string}`))
        throw new NativeRangeError(`The "${label as string}" encoding is not supported: only utf-8 is`)
      this.#isFatal = Boolean(options.fatal)
      this.#keepsMark = Boolean(options.ignoreBOM)
    }
    get encoding(): string {
      return 'utf-8'
    }
    get fatal(): boolean {
      return this.#isFatal
    }
    get ignoreBOM(): boolean {
      return this.#keepsMark
    }
    decode(source?: object, options: { stream?: unknown } = {}): string {
      const binary = source === undefined ? { bytes: new Bytes() } : readBinary(source)
      if (binary === undefined) throw new NativeTypeError('decode() takes an ArrayBuffer or a view of one')
      const isLast = !options.stream
      const state = this.#state
      try {
        return decodeBytes(binary.bytes, state, {
          isFatal: this.#isFatal,
          keepsMark: this.#keepsMark,
          isLast,
        })
      } finally {
        if (isLast || state.hasFailed) this.#state = newState()
      }
    }
  }
  return frozen(TextDecoder)
}

interface DecodeState {
  code: number
  /** The missing bytes of the character, and the valid range of the next one. */
  left: number
  low: number
  high: number
  hasBegun: boolean
  hasFailed: boolean
}

const newState = (): DecodeState => ({
  code: 0,
  left: 0,
  low: 0x80,
  high: 0xbf,
  hasBegun: false,
  hasFailed: false,
})

interface DecodeRules {
  readonly isFatal: boolean
  readonly keepsMark: boolean
  readonly isLast: boolean
}

/** As the Encoding Standard requires: one replacement for each maximal subpart of a character. */
function decodeBytes(
  bytes: Uint8Array,
  state: DecodeState,
  { isFatal, keepsMark, isLast }: DecodeRules,
): string {
  let text = ''
  const put = (code: number): void => {
    if (code === byteOrderMark && !state.hasBegun && !keepsMark) state.hasBegun = true
    else {
      state.hasBegun = true
      text += characterText(code)
    }
  }
  const malformed = (): void => {
    state.left = 0
    state.hasFailed = isFatal
    if (isFatal) throw new NativeTypeError('The encoded data was not valid for encoding utf-8')
    put(replacement)
  }
  const length = bytesLength(bytes)
  for (let index = 0; index < length; index++) {
    const byte = bytes[index] as number
    if (state.left === 0) {
      if (byte < 0x80) put(byte)
      else if (!beginCharacter(byte, state)) malformed()
    } else if (byte < state.low || byte > state.high) {
      malformed()
      index--
    } else {
      state.low = 0x80
      state.high = 0xbf
      state.code = (state.code << 6) | (byte & 0x3f)
      if (--state.left === 0) put(state.code)
    }
  }
  if (isLast && state.left > 0) malformed()
  return text
}

function beginCharacter(byte: number, state: DecodeState): boolean {
  if (byte < 0xc2 || byte > 0xf4) return false
  state.left = byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3
  state.code = byte & (0x3f >> state.left)
  state.low = byte === 0xe0 ? 0xa0 : byte === 0xf0 ? 0x90 : 0x80
  state.high = byte === 0xed ? 0x9f : byte === 0xf4 ? 0x8f : 0xbf
  return true
}

function characterText(code: number): string {
  if (code < 0x1_00_00) return fromCharCode(code)
  return fromCharCode(0xd8_00 + ((code - 0x1_00_00) >> 10), 0xdc_00 + ((code - 0x1_00_00) & 0x3_ff))
}

function frozen(shim: { readonly prototype: object }): unknown {
  freeze(shim.prototype)
  return freeze(shim)
}
