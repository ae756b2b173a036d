/**
 * Rewrites HTML of a guest with elements that lay out text: a list names the elements and attributes that stay. Nothing that
 * loads, links, runs or styles is on it. A browser parses only the rewritten text, so it does not matter if it would have
 * parsed the guest's text differently.
 */

/** The most characters that a page draws of one display. */
const charactersMax = 1_000_000
const elementsMax = 20_000
/** All attributes of one element: more than any layout of text needs. */
const attributesLengthMax = 10_000

const kept = new Set(
  (
    'table thead tbody tfoot tr th td caption p div span br hr h1 h2 h3 h4 h5 h6 ul ol li dl dt dd ' +
    'b i u s em strong small sub sup mark code pre kbd samp var blockquote details summary'
  ).split(' '),
)
const empty = new Set(['br', 'hr'])
/** Elements whose contents are not text. */
const swallowed = new Set([
  'script',
  'style',
  'template',
  'noscript',
  'iframe',
  'object',
  'svg',
  'math',
  'title',
])
const keptAttributes = new Set(['colspan', 'rowspan', 'dir', 'open'])

const attribute = /([a-z-]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?/gi
const entity = /&(?:#\d{1,7}|#x[0-9a-f]{1,6}|[a-z][a-z0-9]{1,31});/gi

/** Also estimates the number of rows and lines, because a page cannot measure the contents of such a frame. */
export function toPlainHtml(given: string): { readonly html: string; readonly rows: number } {
  const pieces: string[] = []
  let [rows, count] = [1, 0]
  for (const piece of piecesOf(given.slice(0, charactersMax))) {
    if (typeof piece === 'string') pieces.push(escapeText(piece))
    else if (kept.has(piece.name) && ++count <= elementsMax) {
      if (!piece.isEnd && /^(?:tr|p|li|h\d|br|hr|pre|div)$/.test(piece.name)) rows++
      pieces.push(writeTag(piece))
    }
  }
  return { html: pieces.join(''), rows }
}

interface Tag {
  readonly name: string
  readonly isEnd: boolean
  readonly attributes: string
}

/** Splits into texts and tags. It reads each character at most a few times, whatever the text is. */
function* piecesOf(text: string): Generator<string | Tag> {
  for (let at = 0; at < text.length;) {
    const start = text.indexOf('<', at)
    if (start === -1) return yield text.slice(at)
    yield text.slice(at, start)
    const next = text.slice(start + 1, start + 3)
    const isMarkup = /^[!?]|^\/?[a-z]/i.test(next)
    const end = isMarkup ? findEnd(text, start) : start
    // An unfinished tag is text, and so is everything after it.
    if (end === -1) return yield text.slice(start)
    at = end + 1
    if (!isMarkup) yield '<'
    const tag = isMarkup ? readTag(text.slice(start + 1, end)) : undefined
    if (tag === undefined) continue
    if (tag.isEnd || !swallowed.has(tag.name)) yield tag
    else at = findClosing(text, tag.name, at)
  }
}

function findEnd(text: string, start: number): number {
  if (text.startsWith('<!--', start)) {
    const end = text.indexOf('-->', start + 2)
    return end === -1 ? -1 : end + 2
  }
  let quote = ''
  for (let [at, before] = [start + 1, '']; at < text.length; at++) {
    const character = text.charAt(at)
    if (quote !== '') quote = character === quote ? '' : quote
    else if (character === '>') return at
    else if (before === '=' && (character === '"' || character === "'")) quote = character
    if (character.trim() !== '') before = character
  }
  return -1
}

function readTag(inside: string): Tag | undefined {
  const [whole = '', slash, name] = /^(\/?)([a-z][a-z0-9-]*)/i.exec(inside) ?? []
  if (name === undefined) return undefined
  return { name: name.toLowerCase(), isEnd: slash === '/', attributes: inside.slice(whole.length) }
}

/** The position after the element, or the end of the text. */
function findClosing(text: string, name: string, from: number): number {
  const closing = new RegExp(`</${name}`, 'gi')
  closing.lastIndex = from
  const end = closing.test(text) ? text.indexOf('>', closing.lastIndex) : -1
  return end === -1 ? text.length : end + 1
}

function writeTag({ name, isEnd, attributes }: Tag): string {
  if (isEnd) return empty.has(name) ? '' : `</${name}>`
  const given = attributes.length > attributesLengthMax ? '' : attributes
  const written = [...given.matchAll(attribute)].flatMap(([, key = '', ...values]) => {
    const value = values.find((one) => one !== undefined) ?? ''
    const isKept = keptAttributes.has(key.toLowerCase()) && /^\w{0,5}$/.test(value)
    return isKept ? ` ${key.toLowerCase()}="${value}"` : ''
  })
  return `<${name}${written.join('')}>`
}

/** Entities stay, because they always stand for text. */
function escapeText(text: string): string {
  let [at, escaped] = [0, '']
  for (const { 0: whole, index } of text.matchAll(entity)) {
    escaped += escapeAll(text.slice(at, index)) + whole
    at = index + whole.length
  }
  return escaped + escapeAll(text.slice(at))
}

function escapeAll(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
