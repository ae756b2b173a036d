/** One segment of a pattern, between two slashes. */

/** Matches exactly one character. */
type Single = (character: string) => boolean

export interface Segment {
  /** The matchers of the characters, in order. `*` matches any number of characters. */
  readonly singles: readonly (Single | '*')[]
  /** Whether the pattern starts with a literal dot, which hidden names require. */
  readonly startsWithDot: boolean
}

export function parseSegment(text: string): Segment {
  const characters = Array.from(text)
  const singles: (Single | '*')[] = []
  for (let at = 0; at < characters.length; at++) {
    const character = characters[at] ?? ''
    const classEnd = character === '[' ? findClassEnd(characters, at) : -1
    if (character === '*') {
      if (singles.at(-1) !== '*') singles.push('*')
    } else if (character === '?') singles.push(() => true)
    else if (classEnd !== -1) {
      singles.push(parseClass(characters.slice(at + 1, classEnd)))
      at = classEnd
    } else {
      const literal = character === '\\' ? (characters[++at] ?? '\\') : character
      singles.push((candidate) => candidate === literal)
    }
  }
  return { singles, startsWithDot: /^\\?\./.test(text) }
}

/** Backtracks only to the last star: what an earlier star could match in addition, the last one can match, too. */
export function matchesSegment({ singles, startsWithDot }: Segment, name: string): boolean {
  if (name.startsWith('.') && !startsWithDot) return false
  const characters = Array.from(name)
  let [at, place] = [0, 0]
  let star: { readonly place: number; at: number } | undefined
  while (at < characters.length) {
    const single = singles[place]
    if (single === '*') star = { place: place++, at }
    else if (single?.(characters[at] ?? '') === true) {
      at++
      place++
    } else if (star === undefined) return false
    else {
      at = ++star.at
      place = star.place + 1
    }
  }
  return place === singles.length || (place === singles.length - 1 && singles[place] === '*')
}

/** The index of the bracket that ends the class. -1 if there is none: then the opening bracket is an ordinary character. */
function findClassEnd(characters: readonly string[], start: number): number {
  const first = characters[start + 1] === '!' || characters[start + 1] === '^' ? start + 2 : start + 1
  for (let at = first; at < characters.length; at++) {
    if (characters[at] === '\\') at++
    else if (characters[at] === ']' && at > first) return at
  }
  return -1
}

function parseClass(inside: readonly string[]): Single {
  const isNegated = inside[0] === '!' || inside[0] === '^'
  const members = unescape(isNegated ? inside.slice(1) : inside)
  const ranges: { readonly first: string; readonly last: string }[] = []
  for (let at = 0; at < members.length; at++) {
    const first = members[at] ?? ''
    const isRange = members[at + 1] === '-' && at + 2 < members.length
    ranges.push({ first, last: isRange ? (members[at + 2] ?? first) : first })
    if (isRange) at += 2
  }
  return (character) => ranges.some(({ first, last }) => isBetween(character, first, last)) !== isNegated
}

function isBetween(character: string, first: string, last: string): boolean {
  const code = codeOf(character)
  return code >= codeOf(first) && code <= codeOf(last)
}

function codeOf(character: string): number {
  return character.codePointAt(0) ?? 0
}

function unescape(characters: readonly string[]): string[] {
  const plain: string[] = []
  for (let at = 0; at < characters.length; at++) {
    const isEscape = characters[at] === '\\' && at + 1 < characters.length
    plain.push(characters[isEscape ? ++at : at] ?? '')
  }
  return plain
}
