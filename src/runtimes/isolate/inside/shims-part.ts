/** The platform functions that need no host. This part is opened when the program first reads one of their globals. */
import { decodeBase64, encodeBase64 } from './shims/base64.ts'
import { cloneValue } from './shims/clone-value.ts'
import { createCrypto } from './shims/crypto.ts'
import { createTextDecoder, createTextEncoder } from './shims/text-coding.ts'
import { createUrls } from './shims/urls.ts'

export interface ShimsPart {
  readonly decodeBase64: typeof decodeBase64
  readonly encodeBase64: typeof encodeBase64
  readonly cloneValue: typeof cloneValue
  readonly createCrypto: typeof createCrypto
  readonly createTextDecoder: typeof createTextDecoder
  readonly createTextEncoder: typeof createTextEncoder
  readonly createUrls: typeof createUrls
}

declare const $lazaretInside: { part?: ShimsPart }
$lazaretInside.part = {
  decodeBase64,
  encodeBase64,
  cloneValue,
  createCrypto,
  createTextDecoder,
  createTextEncoder,
  createUrls,
}
