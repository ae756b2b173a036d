/** `URL`. The object holds the parts. The Node process parses the URL, and again at each change of a part. */
import { defineProperty } from '../../../../core/primordials.ts'
import { urlParts } from '../protocol.ts'
import type { Outside, UrlPart } from '../protocol.ts'
import {
  answerWith,
  askChanged,
  askPairs,
  askQuery,
  askUrl,
  requireArguments,
  textOf,
} from './url-questions.ts'
import type { Parts } from './url-questions.ts'
import { paramsOf, URLSearchParams } from './url-search-params.ts'
import type { Query } from './url-search-params.ts'

const NativeTypeError = TypeError
const { freeze } = Object
const { ownKeys } = Reflect
const { iterator, toStringTag } = Symbol

class URL {
  #parts: Parts
  #query: Query | undefined
  #searchParams: object | undefined

  constructor(href: unknown, base?: unknown) {
    this.#parts = readUrl(href, base)
  }

  static canParse(href: unknown, base?: unknown): boolean {
    requireArguments(arguments.length, 1)
    return askUrl(href, base) !== undefined
  }

  static parse(href: unknown, base?: unknown): URL | null {
    requireArguments(arguments.length, 1)
    const parts = askUrl(href, base)
    return parts === undefined ? null : new URL(parts.href)
  }

  get searchParams(): unknown {
    if (this.#searchParams === undefined) {
      const query: Query = {
        pairs: askPairs(this.#parts.search),
        onChange: () => {
          this.#parts = askChanged(this.#parts.href, 'search', askQuery(query.pairs))
        },
      }
      this.#query = query
      this.#searchParams = paramsOf(query)
    }
    return this.#searchParams
  }

  toString(): string {
    return this.#parts.href
  }

  toJSON(): string {
    return this.#parts.href
  }

  static {
    for (let index = 0; index < urlParts.length; index++) {
      const part = urlParts[index] as UrlPart
      const { get, set } = {
        get(this: URL): string {
          return this.#parts[part]
        },
        set(this: URL, value: unknown): void {
          this.#change(part, value)
        },
      }
      hide(this.prototype, part, part === 'origin' ? { get } : { get, set })
    }
  }

  #change(part: UrlPart, value: unknown): void {
    this.#parts = part === 'href' ? readUrl(value) : askChanged(this.#parts.href, part, textOf(value))
    if (this.#query !== undefined && (part === 'href' || part === 'search'))
      this.#query.pairs = askPairs(this.#parts.search)
  }
}

export interface Urls {
  readonly URL: unknown
  readonly URLSearchParams: unknown
}

export function createUrls(outside: Outside): Urls {
  answerWith(outside)
  showMethods(URL.prototype)
  showMethods(URLSearchParams.prototype)
  const { entries } = URLSearchParams.prototype
  hide(URLSearchParams.prototype, iterator, { value: entries })
  return { URL: frozen(URL, 'URL'), URLSearchParams: frozen(URLSearchParams, 'URLSearchParams') }
}

function readUrl(href: unknown, base?: unknown): Parts {
  const parts = askUrl(href, base)
  if (parts !== undefined) return parts
  const error = new NativeTypeError('Invalid URL')
  hide(error, 'code', { value: 'ERR_INVALID_URL' })
  hide(error, 'input', { value: `${href as string}` })
  throw error
}

function hide(owner: object, name: PropertyKey, what: PropertyDescriptor): void {
  const fixed = { __proto__: null, configurable: true }
  defineProperty(owner, name, { ...fixed, ...what } as PropertyDescriptor)
}

/** The methods of the real classes are enumerable. */
function showMethods(prototype: object): void {
  const names = ownKeys(prototype)
  for (let index = 0; index < names.length; index++) {
    const name = names[index] as string
    if (name !== 'constructor')
      defineProperty(prototype, name, { __proto__: null, enumerable: true } as PropertyDescriptor)
  }
}

/** Sets the class's name, because the build shortens names. */
function frozen(shim: { readonly prototype: object }, name: string): unknown {
  hide(shim, 'name', { value: name })
  hide(shim.prototype, toStringTag, { value: name })
  freeze(shim.prototype)
  return freeze(shim)
}
