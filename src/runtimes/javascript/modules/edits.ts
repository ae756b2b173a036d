/** Edits of the guest's code that keep line numbers, and a function that maps edited columns back. */
import type { MapPosition } from './positions.ts'

export class Edits {
  readonly #code: string
  readonly #insertions: { offset: number; text: string }[] = []
  readonly #blanks: { start: number; end: number }[] = []

  constructor(code: string) {
    this.#code = code
  }

  /** Texts at the same offset keep the order of insertion. A text must not contain a line break. */
  insert(offset: number, text: string): void {
    this.#insertions.push({ offset, text })
  }

  /** Overwrites a range with spaces, so that nothing moves, and inserts `text` at its start. */
  blank(start: number, end: number, text = ''): void {
    this.#blanks.push({ start, end })
    if (text !== '') this.insert(start, text)
  }

  /** Returns the edited code, and a function that maps its positions to the code before. */
  apply(): { readonly text: string; readonly toBefore: MapPosition } {
    // Array.prototype.sort is stable.
    const insertions = this.#insertions.toSorted((left, right) => left.offset - right.offset)
    const blanked = this.#blankedCode()
    let text = ''
    let from = 0
    for (const insertion of insertions) {
      text += blanked.slice(from, insertion.offset) + insertion.text
      from = insertion.offset
    }
    return { text: text + blanked.slice(from), toBefore: createShiftBack(locate(this.#code, insertions)) }
  }

  #blankedCode(): string {
    let code = this.#code
    for (const { start, end } of this.#blanks)
      code =
        code.slice(0, start) + code.slice(start, end).replace(/[^\n\r\u2028\u2029]/g, ' ') + code.slice(end)
    return code
  }
}

interface Inserted {
  readonly line: number
  readonly column: number
  readonly length: number
}

function locate(code: string, insertions: readonly { offset: number; text: string }[]): readonly Inserted[] {
  const places: Inserted[] = []
  let line = 1
  let lineStart = 0
  for (const { offset, text } of insertions) {
    for (
      let end = code.indexOf('\n', lineStart);
      end !== -1 && end < offset;
      end = code.indexOf('\n', lineStart)
    ) {
      line++
      lineStart = end + 1
    }
    places.push({ line, column: offset - lineStart + 1, length: text.length })
  }
  return places
}

/** Runs after guest code: index loops only. */
function createShiftBack(places: readonly Inserted[]): MapPosition {
  return ({ line, column }) => {
    let shift = 0
    for (let index = 0; index < places.length; index++) {
      const place = places[index] as Inserted
      if (place.line !== line) continue
      if (place.column + shift >= column) break
      shift += place.length
      // A position inside the inserted text maps to the place of the insertion.
      if (place.column + shift > column) return { line, column: place.column }
    }
    return { line, column: column - shift }
  }
}
