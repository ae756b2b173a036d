/**
 * Globs under /workspace: `*`, `**`, `?`, `[a-z]`, `[!a-z]`, `{a,b}`, and `\` before a literal character. A name that starts
 * with a dot matches only if the pattern has that dot. A plain name also matches everything in the folder of that name.
 * Guests choose the names, so matching never backtracks past the last star. Regular expressions made from globs would take
 * minutes for a hostile name.
 */
import { matchesSegment, parseSegment } from './segment.ts'
import type { Segment } from './segment.ts'

export interface Pattern {
  /** The folder that contains all matches, or the only file that can match. `.` is the workspace. */
  readonly base: string
  readonly matches: (path: string) => boolean
}

const patternCharactersMax = 1024
const alternativesMax = 64
/**
 * Of the alternatives of all patterns together. Each character takes a hundred bytes of memory when it is parsed, and time
 * for each file.
 */
const expandedCharactersMax = 64 * 1024
const workspace = '/workspace'
/** The special characters of globs. */
const magic = /[*?[\]{}\\]/

/** Why a text is not a valid pattern, or undefined. */
export function explainBadPattern(text: string): string | undefined {
  return findBadPattern([text])?.problem
}

/** The first text of a list that is not a valid pattern, or with which the list has too many alternatives. */
export function findBadPattern(
  texts: readonly string[],
): { readonly index: number; readonly problem: string } | undefined {
  let charactersLeft = expandedCharactersMax
  for (const [index, text] of texts.entries()) {
    const alternatives = expandPattern(text, charactersLeft)
    if (typeof alternatives === 'string') return { index, problem: alternatives }
    charactersLeft -= lengthOf(alternatives)
  }
  return undefined
}

/** The alternatives, or why the text is not a valid pattern. */
function expandPattern(text: string, charactersMax: number): readonly string[] | string {
  if (text.length === 0) return 'must not be empty'
  if (text.length > patternCharactersMax) return `is longer than ${patternCharactersMax} characters`
  const alternatives = expandBraces(toRelative(text))
  if (alternatives === undefined) return `has more than ${alternativesMax} alternatives in braces`
  if (lengthOf(alternatives) > charactersMax)
    return `has alternatives in braces that are too long: with those before it, more than ${expandedCharactersMax} characters`
  const isOutside = (path: string) => path !== '' && path.split('/').some((part) => /^\.{0,2}$/.test(part))
  return alternatives.some(isOutside)
    ? 'must be a path below /workspace, without `.`, `..` or empty parts'
    : alternatives
}

const lengthOf = (texts: readonly string[]): number => texts.reduce((sum, { length }) => sum + length, 0)

/** Expands the braces of a valid pattern, and parses each alternative. */
export function parsePattern(text: string): Pattern[] {
  return (expandBraces(toRelative(text)) ?? []).map(parseAlternative)
}

/** `/workspace/out/`, `./out` and `out` are the same; the workspace itself is the empty path. */
function toRelative(text: string): string {
  const isWorkspace = text === workspace || text.startsWith(`${workspace}/`)
  const inside = isWorkspace ? text.slice(workspace.length + 1) : text
  return inside.replace(/^\.(\/|$)/, '').replace(/(?<=[^/])\/$/, '')
}

function parseAlternative(text: string): Pattern {
  const parts = text.split('/')
  const magicAt = parts.findIndex((part) => magic.test(part))
  if (magicAt === -1) {
    const folder = text === '' ? '' : `${text}/`
    return {
      base: text === '' ? '.' : text,
      matches: (path) => path === text || path.startsWith(folder),
    }
  }
  // At the end, `**` matches all files below the folder before it.
  const segments = [...parts, ...(parts.at(-1) === '**' ? ['*'] : [])]
    .filter((part, index) => part !== '**' || parts[index - 1] !== '**')
    .map((part) => (part === '**' ? ('**' as const) : parseSegment(part)))
  return {
    base: magicAt === 0 ? '.' : parts.slice(0, magicAt).join('/'),
    matches: (path) => matchesSegments(segments, path),
  }
}

/** Follows all ways to match at once, so the time is proportional to the length of the path times that of the pattern. */
function matchesSegments(segments: readonly (Segment | '**')[], path: string): boolean {
  let places = new Set<number>()
  // `**` also matches no folder at all.
  const arrive = (set: Set<number>, place: number): void => {
    set.add(place)
    if (segments[place] === '**') set.add(place + 1)
  }
  arrive(places, 0)
  for (const name of path.split('/')) {
    const next = new Set<number>()
    for (const place of places) {
      const segment = segments[place]
      if (segment === '**') {
        if (!name.startsWith('.')) arrive(next, place)
      } else if (segment !== undefined && matchesSegment(segment, name)) arrive(next, place + 1)
    }
    if (next.size === 0) return false
    places = next
  }
  return places.has(segments.length)
}

/** `a{b,c}` → `ab`, `ac`, also nested. Undefined if there are too many alternatives. */
function expandBraces(text: string): string[] | undefined {
  const expanded: string[] = []
  const waiting = [text]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const group = findBraces(next)
    if (group === undefined) expanded.push(next)
    else waiting.push(...group)
    if (expanded.length + waiting.length > alternativesMax) return undefined
  }
  return expanded
}

/** Returns a copy of the text for each alternative of its first pair of braces that contains a comma. */
function findBraces(text: string): string[] | undefined {
  const marks = findMarks(text)
  const [start, end] = [marks?.[0], marks?.at(-1)]
  if (marks === undefined || start === undefined || end === undefined) return undefined
  const options = marks.slice(1).map((mark, index) => text.slice((marks[index] ?? 0) + 1, mark))
  return options.map((option) => text.slice(0, start) + option + text.slice(end + 1))
}

/**
 * The offsets of the opening brace, the commas and the closing brace of that pair. Reads the text once: clients choose it, and
 * it may be a thousand opening braces.
 */
function findMarks(text: string): number[] | undefined {
  const open: number[][] = []
  let first: number[] | undefined
  for (let at = 0; at < text.length; at++) {
    const character = text[at]
    if (character === '\\') at++
    else if (character === '{') open.push([at])
    else if (character === ',') open.at(-1)?.push(at)
    else if (character === '}') {
      const marks = [...(open.pop() ?? []), at]
      if (marks.length > 2 && (first === undefined || (marks[0] ?? 0) < (first[0] ?? 0))) first = marks
    }
  }
  return first
}
