/** Which paths are left out when a folder is copied. */
import { LazaretError } from '../../core/errors/errors.ts'
import { explainBadPattern, parsePattern } from '../../runtimes/collect/pattern.ts'

const rulesMax = 64

/**
 * Whether a path below the folder is left out. A pattern without a slash is the name of a file or folder at any depth; one
 * with a slash is a path relative to the folder. A folder is left out with its contents. Throws INVALID_REQUEST.
 */
export function parseIgnore(value: unknown): (path: string) => boolean {
  if (value === undefined) return () => false
  const refuse = (detail: string) => new LazaretError('INVALID_REQUEST', { detail })
  if (!Array.isArray(value) || value.length > rulesMax)
    throw refuse(`ignore must be a list of at most ${rulesMax} patterns.`)
  const rules = value.map((text: unknown, index) => {
    if (typeof text !== 'string') throw refuse(`ignore[${index}] must be a string.`)
    const problem = explainBadPattern(text)
    if (problem !== undefined) throw refuse(`ignore[${index}] ${problem}.`)
    const isName = !text.replace(/\/$/, '').includes('/')
    return { isName, patterns: parsePattern(text) }
  })
  return new IgnoreVerdicts((name, whole) =>
    rules.some(({ isName, patterns }) => patterns.some(({ matches }) => matches(isName ? name : whole))),
  ).isIgnored
}

/**
 * Caches whether the parent folders of the last path are ignored. Files come folder by folder, so in most paths only the
 * last name is new. Without the cache, a guest with deep folders and long names could make the host match every folder
 * again for each file.
 */
class IgnoreVerdicts {
  readonly #matches: (name: string, whole: string) => boolean
  #names: readonly string[] = []
  #ignored: readonly boolean[] = []

  constructor(matches: (name: string, whole: string) => boolean) {
    this.#matches = matches
  }

  readonly isIgnored = (path: string): boolean => {
    const names = path.split('/')
    const different = names.findIndex((name, index) => name !== this.#names[index])
    const same = different === -1 ? names.length : different
    const ignored = this.#ignored.slice(0, same)
    for (let at = same; at < names.length; at++) {
      const isInIgnored = ignored[at - 1] === true
      ignored.push(isInIgnored || this.#matches(names[at] ?? '', names.slice(0, at + 1).join('/')))
    }
    this.#names = names
    this.#ignored = ignored
    return ignored.at(-1) === true
  }
}
