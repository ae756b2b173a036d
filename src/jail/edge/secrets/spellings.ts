/**
 * How libraries write a character: percent-encoded, escaped, as an entity. Encoders differ in which characters they
 * encode, so nothing here depends on one of them: each character of a text may be written in any of these ways, whatever
 * its neighbours are. Case is ignored, as everywhere in this folder, and so are the NULs of UTF-16 and UTF-32.
 */

/** What is read where a line is broken inside a text: no character. */
export const softBreak = 0
/** How many encodings may lie one inside the other, such as HTML in a string of JSON in a URL. */
const nestingMax = 2
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

/** Of space: in a form, and in a header of mail. Of quotes: in CSV and SQL, and in a shell. Of line breaks: escaped. */
const others: Readonly<Record<string, readonly string[]>> = {
  ' ': ['+', '_'],
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

/** Letters in lower case. */
export function fold(code: number): number {
  return code >= 0x41 && code <= 0x5a ? code + 0x20 : code
}

/**
 * Where a reader is inside of a spelling, at each level of nesting: one node a level, as the digits of a number. 0 is
 * between two characters.
 */
type Within = number

interface Read {
  readonly within: Within
  /** What a spelling has come to its end as; `within` is 0 then. */
  readonly char: number | undefined
}

/** What the next character may mean to a reader: a character by itself, or a part of a spelling, at any level. */
export function read(within: Within, char: number, level = 0, found: Read[] = []): readonly Read[] {
  if (level === nestingMax) {
    found.push({ within, char })
    return found
  }
  const unit = inner.length ** level
  const node = inner[Math.floor(within / unit) % inner.length] ?? root
  if (node === root) read(within, char, level + 1, found)
  const next = node.next[char]
  if (next === undefined) return found
  const rest = within - node.id * unit
  if (next.char !== undefined) read(rest, next.char, level + 1, found)
  if (next.next.length > 0) found.push({ within: rest + next.id * unit, char: undefined })
  return found
}
