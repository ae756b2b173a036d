/**
 * What the encoder of values uses of a platform, made of the language alone: a bare realm has nothing else. It stands
 * on the global object while what needs it is loaded. Import it before what needs it.
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

/** Decoders look for it when they need it. */
export function withBuffer<Result>(decode: () => Result): Result {
  Object.defineProperty(globalThis, 'Buffer', { value: LanguageBuffer, configurable: true })
  const result = decode()
  Reflect.deleteProperty(globalThis, 'Buffer')
  return result
}
