/**
 * Implements the platform globals that the encoder of values uses with the language alone, because a bare realm has no
 * platform. They are globals only while the modules that need them are loaded. Import this module before those.
 */
import { LanguageBuffer } from '../language/base64.ts'
import { languageKinds } from '../language/kinds.ts'
import { LanguageTextEncoder } from '../language/text-encoder.ts'

const { isError } = Error as unknown as { readonly isError: (value: unknown) => boolean }
const types = languageKinds(isError, () => false)

const platform = {
  process: { versions: {}, getBuiltinModule: () => types },
  Buffer: LanguageBuffer,
  TextEncoder: LanguageTextEncoder,
}
for (const [name, value] of Object.entries(platform))
  Object.defineProperty(globalThis, name, { value, configurable: true })

/** Decoders look up `Buffer` only when they need it. */
export function withBuffer<Result>(decode: () => Result): Result {
  Object.defineProperty(globalThis, 'Buffer', { value: LanguageBuffer, configurable: true })
  const result = decode()
  Reflect.deleteProperty(globalThis, 'Buffer')
  return result
}
