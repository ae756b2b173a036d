/**
 * How libraries write a character: percent-encoded, escaped, as an entity. Encoders differ in which characters they
 * encode, so nothing here depends on one of them: each character of a text may be written in any of these ways, whatever
 * its neighbours are. Case is ignored, as everywhere in this folder, and so are the NULs of UTF-16 and UTF-32.
 */

/** What is read where a line is broken inside a text: no character. */
export const softBreak = 0
const printable = Array.from({ length: 0x7f - 0x20 }, (_, index) => String.fromCharCode(0x20 + index)).join(
  '',
)

/** The names of HTML for printable ASCII. */
const entities: Readonly<Record<string, string>> = {
  ' ': 'nbsp',
  '!': 'excl',
  '"': 'quot',
  '#': 'num',
  $: 'dollar',
  '%': 'percnt',
  '&': 'amp',
  "'": 'apos',
  '(': 'lpar',
  ')': 'rpar',
  '*': 'ast midast',
  '+': 'plus',
  ',': 'comma',
  '.': 'period',
  '/': 'sol',
  ':': 'colon',
  ';': 'semi',
  '<': 'lt',
  '=': 'equals',
  '>': 'gt',
  '?': 'quest',
  '@': 'commat',
  '[': 'lsqb lbrack',
  '\\': 'bsol',
  ']': 'rsqb rbrack',
  '^': 'hat',
  _: 'lowbar underbar',
  '`': 'grave diacriticalgrave',
  '{': 'lcub lbrace',
  '|': 'verbar vert verticalline',
  '}': 'rcub rbrace',
  '\n': 'newline',
}

/** Of quotes: in CSV and SQL, and in a shell. Of line breaks: escaped. */
const others: Readonly<Record<string, readonly string[]>> = {
  '"': ['""'],
  "'": ["''", String.raw`'\''`, `'"'"'`],
  '\n': [String.raw`\n`],
  '\r': [String.raw`\r`],
}

/** A zero may be repeated after these. */
const zerosAfter = ['&#', '&#x', String.raw`\u{`]

function spellingsOf(char: string): string[] {
  const code = char.charCodeAt(0)
  const hex = code.toString(16)
  const two = hex.padStart(2, '0')
  return [
    ...[`%${two}`, `%u00${two}`, `=${two}`], // URLs; escape() of JavaScript; quoted-printable
    ...[`u00${two}`, `u{${hex}}`, `x${two}`, two, code.toString(8).padStart(3, '0')].map((one) => `\\${one}`),
    ...(/[!-/:-@[-`{-~ ]/.test(char) ? [`\\${char}`] : []),
    ...[`&#${code};`, `&#x${hex};`],
    ...(entities[char]?.split(' ').map((name) => `&${name};`) ?? []),
    ...(others[char] ?? []),
  ]
}

interface Node {
  /** Unique among the nodes that are not the end of every spelling that leads to them. The root has 0. */
  id: number
  /** By character. */
  readonly next: (Node | undefined)[]
  /** The character that is written if the spelling ends here. */
  char: number | undefined
}

/** All spellings in one tree. */
const root: Node = { id: 0, next: [], char: undefined }
for (const char of `${printable}\r\n`)
  for (const spelling of spellingsOf(char)) reach(spelling.toLowerCase()).char = fold(char.charCodeAt(0))
for (const line of ['=\n', '=\r\n']) reach(line).char = softBreak
for (const start of zerosAfter) {
  const node = reach(start)
  node.next['0'.charCodeAt(0)] = node
}
const inner: Node[] = [root]
for (const node of inner)
  for (const next of node.next)
    if (next !== undefined && next.next.length > 0 && !inner.includes(next)) next.id = inner.push(next) - 1

function reach(text: string): Node {
  let node = root
  for (const one of text) node = node.next[one.charCodeAt(0)] ??= { id: 0, next: [], char: undefined }
  return node
}

/** The tree as tables, by node and next character: the next node, and the character of a spelling that ends. */
const charBits = 7
const none = 0xff
const nodeBits = Math.ceil(Math.log2(inner.length))
const nodeMask = (1 << nodeBits) - 1
const nextOf = new Uint16Array(inner.length << charBits)
const charOf = new Uint8Array(inner.length << charBits).fill(none)
for (const { id, next } of inner)
  for (const [char, node] of next.entries()) {
    nextOf[(id << charBits) | char] = node?.id ?? 0
    charOf[(id << charBits) | char] = node?.char ?? none
  }

/** Letters in lower case. */
export function fold(code: number): number {
  return code >= 0x41 && code <= 0x5a ? code + 0x20 : code
}

/** Bytes that are in no text and in no spelling are of one class. */
export const otherClass = 0x7f
export const classOf = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte < otherClass ? fold(byte) : otherClass,
)

/** Whether a spelling begins with the character. */
export const isOpening = (char: number): boolean => root.next[char] !== undefined

/** A list of numbers that keeps its memory when it is emptied. */
export class Numbers {
  readonly #items: number[] = []
  length = 0

  at(index: number): number {
    return this.#items[index] as number
  }

  addOnce(item: number): void {
    for (let index = 0; index < this.length; index++) if (this.#items[index] === item) return
    this.#items[this.length++] = item
  }
}

/** A character that has been completed, and the place where it begins, in one number. */
export const charIn = (completed: number): number => completed & ((1 << charBits) - 1)
export const placeIn = (completed: number): number => completed >> charBits

/**
 * Reads all that a text may spell: each character may stand for itself, or belong to a spelling, whose characters may be
 * spelled themselves. It knows no secret, so its work depends on the text alone.
 */
export class Reader {
  /** What the last character has completed. */
  readonly completed = new Numbers()
  /** Unfinished spellings: the node of the outer one, the node of the inner one, and the place where it begins. */
  #open = new Numbers()
  #before = new Numbers()

  get isBetween(): boolean {
    return this.#open.length === 0
  }

  /** Whether an unfinished spelling begins there. */
  isOpenAt(place: number): boolean {
    for (let one = 0; one < this.#open.length; one++)
      if (this.#open.at(one) >> (2 * nodeBits) === place) return true
    return false
  }

  /** Reads a character that begins at a place. */
  read(char: number, place: number): void {
    const before = this.#open
    this.#open = this.#before
    this.#before = before
    this.#open.length = this.completed.length = 0
    this.#readOuter(char, 0, place << nodeBits)
    for (let one = 0; one < before.length; one++)
      this.#readOuter(char, before.at(one) & nodeMask, before.at(one) >> nodeBits)
  }

  /** `rest` is the inner spelling and its place. */
  #readOuter(char: number, outer: number, rest: number): void {
    if (outer === 0) this.#readInner(char, rest)
    const at = (outer << charBits) | char
    const whole = charOf[at] as number
    if (whole !== none) this.#readInner(whole, rest)
    const next = nextOf[at] as number
    if (next !== 0) this.#open.addOnce((rest << nodeBits) | next)
  }

  #readInner(char: number, rest: number): void {
    const place = rest >> nodeBits
    const node = rest & nodeMask
    if (node === 0) this.completed.addOnce((place << charBits) | char)
    const at = (node << charBits) | char
    const whole = charOf[at] as number
    if (whole !== none) this.completed.addOnce((place << charBits) | whole)
    const next = nextOf[at] as number
    if (next !== 0) this.#open.addOnce(((place << nodeBits) | next) << nodeBits)
  }

  end(): void {
    this.#open.length = 0
  }
}
