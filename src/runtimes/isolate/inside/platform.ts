/**
 * Implements the platform names that the encoder and decoder of values use (`core/`) with the language alone. This is a
 * separate bundle in front of the others: only they have these names in their scope.
 */
import { LanguageBuffer } from '../../javascript/language/base64.ts'
import { languageKinds } from '../../javascript/language/kinds.ts'
import { LanguageTextEncoder } from '../../javascript/language/text-encoder.ts'

declare const $lazaretInside: { platform?: object }

let isError: ((value: unknown) => boolean) | undefined

const { getPrototypeOf, prototype: objectPrototype } = Object
const { prototype: arrayPrototype } = Array

/** True for most objects. An object of another kind with such a prototype is also treated as plain. */
function isPlain(value: object): boolean {
  const prototype: unknown = getPrototypeOf(value)
  return prototype === objectPrototype || prototype === arrayPrototype || prototype === null
}

const types = languageKinds((value) => isError?.(value) === true, isPlain)

$lazaretInside.platform = {
  /** The realm of the snapshot lacks `Error.isError`. */
  addLateKinds(): void {
    ;({ isError } = Error as unknown as { readonly isError: (value: unknown) => boolean })
  },
  process: { versions: {}, getBuiltinModule: () => types },
  Buffer: LanguageBuffer,
  TextEncoder: LanguageTextEncoder,
}
