/** What of a platform a program may find that needs no host. Opened when one of the names is first looked at. */
import { decodeBase64, encodeBase64 } from './base64.ts'
import { cloneValue } from './clone-value.ts'
import { createCrypto } from './crypto.ts'
import { createTextDecoder, createTextEncoder } from './text-coding.ts'

export interface ShimsPart {
  readonly decodeBase64: typeof decodeBase64
  readonly encodeBase64: typeof encodeBase64
  readonly cloneValue: typeof cloneValue
  readonly createCrypto: typeof createCrypto
  readonly createTextDecoder: typeof createTextDecoder
  readonly createTextEncoder: typeof createTextEncoder
}

declare const $lazaretInside: { part?: ShimsPart }
$lazaretInside.part = {
  decodeBase64,
  encodeBase64,
  cloneValue,
  createCrypto,
  createTextDecoder,
  createTextEncoder,
}
