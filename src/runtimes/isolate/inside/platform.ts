/**
 * The little of a platform that the readers of values use (`core/`), made of the language alone. A bundle of its own: in
 * front of the others it gives names that they find in their scope, and nobody else anywhere.
 */
import { LanguageBuffer } from '../../javascript/language/base64.ts'
import { languageKinds } from '../../javascript/language/kinds.ts'
import { LanguageTextEncoder } from '../../javascript/language/text-encoder.ts'

declare const $lazaretInside: { platform?: object }

let isError: ((value: unknown) => boolean) | undefined

const { getPrototypeOf, prototype: objectPrototype } = Object
const { prototype: arrayPrototype } = Array

/** Most objects are. An object of another kind with such a prototype is taken for plain. */
function isPlain(value: object): boolean {
  const prototype: unknown = getPrototypeOf(value)
  return prototype === objectPrototype || prototype === arrayPrototype || prototype === null
}

const types = languageKinds((value) => isError?.(value) === true, isPlain)

$lazaretInside.platform = {
  /** The realm of the snapshot lacks this one. */
  addLateKinds(): void {
    ;({ isError } = Error as unknown as { readonly isError: (value: unknown) => boolean })
  },
  process: { versions: {}, getBuiltinModule: () => types },
  Buffer: LanguageBuffer,
  TextEncoder: LanguageTextEncoder,
}
