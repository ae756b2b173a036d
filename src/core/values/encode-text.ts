/** Writes a long text piece by piece. Runs after guest code, so it uses captured built-ins only. */
import type { Members, MemberWriter } from './encode-members.ts'
import { jsonString, stringCodeAt, stringSlice } from '../primordials.ts'

/** Shorter ones are escaped in microseconds. */
export const longTextLength = 64 * 1024
const pieceLength = 8192

export class TextMembers implements Members {
  /** The number of pieces; the last one may be shorter. */
  readonly count: number
  readonly close = '"'
  readonly #text: string

  constructor(text: string) {
    this.#text = text
    this.count = text.length / pieceLength
  }

  write(index: number, writer: MemberWriter): void {
    const piece = jsonString(stringSlice(this.#text, this.#edge(index), this.#edge(index + 1)))
    writer.text.put(stringSlice(piece, 1, -1))
  }

  /** Where a piece begins: one position later if that would be the second half of a surrogate pair. */
  #edge(index: number): number {
    const at = index * pieceLength
    if (at === 0 || at >= this.#text.length) return at
    const isPair =
      isBetween(stringCodeAt(this.#text, at - 1), 0xd800) && isBetween(stringCodeAt(this.#text, at), 0xdc00)
    return isPair ? at + 1 : at
  }
}

const isBetween = (code: number, start: number): boolean => code >= start && code < start + 0x400
