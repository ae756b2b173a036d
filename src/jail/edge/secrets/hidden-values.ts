/**
 * Finds values in what a server sends, in whatever way a library writes them: the value itself, and its bytes in base64,
 * base32, hexadecimal or as numbers; each of these texts with its characters in any of their spellings.
 *
 * The work depends on the bytes, on the number and the lengths of the values, and on which kind of characters they have. It
 * must not depend on how much of a value the bytes match: a guest that makes a server repeat guesses and measures the time
 * would find the value letter by letter.
 */
import { codes, itself } from './notations.ts'
import type { Notation } from './notations.ts'
import { Pattern } from './pattern.ts'
import { allMembersOf, Fork, membersOf, Run } from './runs.ts'
import type { Members, Sink } from './runs.ts'
import { Search } from './search.ts'
import type { Work } from './search.ts'

/**
 * How many bytes may stand for one character of a value. Every character as an entity that is percent-encoded, or as an
 * entity of an entity, takes fewer.
 */
const bytesPerCharacter = 18
/** Values of fewer characters can be in fewer places. These are the only differences between values that the time shows. */
const kindOf = (alphabet: RegExp) => ({
  notation: { ...itself, alphabet },
  only: new RegExp(`^${alphabet.source}*$`),
  members: allMembersOf(alphabet),
})
const usualKeys = kindOf(/[\w.~+/=-]/)
const noSpaces = kindOf(/[!-~]/)
const allTexts = kindOf(/[ -~]/)
const inCode = codes.map(({ alphabet }) => membersOf(alphabet))
const inAnyCode = allMembersOf(new RegExp(codes.map(({ alphabet }) => alphabet.source).join('|')))

interface Sought {
  readonly pattern: Pattern
  readonly members: Members
  readonly lengthMin: number
}

export class HiddenValues {
  /** How many bytes at the end of a piece may belong to a value that continues in the next one. */
  readonly heldMax: number
  readonly hasSpace: boolean
  readonly work: Work = { steps: 0 }
  readonly #itself: Sought
  readonly #codes: readonly Sought[]

  constructor(values: readonly string[]) {
    const lengths = values.map(({ length }) => length)
    this.heldMax = Math.max(0, Math.max(0, ...lengths) * bytesPerCharacter - 1)
    this.hasSpace = values.some((value) => value.includes(' '))
    const seek = (notation: Notation, members: Members): Sought => ({
      pattern: new Pattern(values, notation),
      members,
      lengthMin: notation.lengthMin(Math.min(...lengths)),
    })
    const kind =
      [usualKeys, noSpaces].find(({ only }) => values.every((value) => only.test(value))) ?? allTexts
    this.#itself = seek(kind.notation, kind.members)
    this.#codes = codes.map((notation, index) => seek(notation, inCode[index] as Members))
  }

  /** Reads a stream from its start. */
  open(): Cover {
    const search = ({ pattern, members, lengthMin }: Sought): Sink =>
      new Run(members, lengthMin, new Search(pattern, { hideMax: this.heldMax, work: this.work }))
    const lengthMin = Math.min(...this.#codes.map((one) => one.lengthMin))
    const inCodes = new Run(inAnyCode, lengthMin, new Fork(this.#codes.map(search)))
    return new Cover(new Fork([search(this.#itself), inCodes]))
  }
}

/** Writes asterisks over the values in a stream. */
export class Cover {
  readonly #sink: Sink
  #end = 0

  constructor(sink: Sink) {
    this.#sink = sink
  }

  /** Reads `bytes` from a place on, after those that have been read, and writes to `shown`, which has the same length. */
  cover(bytes: Buffer, shown: Buffer, from = 0): void {
    this.#sink.read({ bytes, shown, offset: this.#end - from }, from, bytes.length)
    this.#end += bytes.length - from
  }
}
