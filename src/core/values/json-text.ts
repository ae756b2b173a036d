/**
 * The JSON text that the encoder writes, within a limit. A rope of a million pieces would live so long that the garbage
 * collector copies it again and again. So the pieces are flattened into one string every few thousand characters, and
 * die young. Runs after guest code, so it uses captured built-ins only.
 */
import { jsonString, stringCodeAt, uncurryThis } from '../primordials.ts'

export const tooLarge = { message: 'too large' }

const chunkLengthMax = 8192
/** Keys repeat, so this many of at most this length are escaped only once. */
const knownKeysMax = 1024
const knownKeyLengthMax = 64

const KeyMap = Map<string, string>
const keyGet = uncurryThis(KeyMap.prototype.get)
const keySet = uncurryThis(KeyMap.prototype.set)

export class JsonText {
  /** How much longer it may become. UTF-16 units are counted: there are never more of them than bytes. */
  #room: number
  #flat = ''
  #chunk = ''
  readonly #knownKeys = new KeyMap()
  #knownKeysLeft = knownKeysMax

  constructor(lengthMax: number) {
    this.#room = lengthMax
  }

  get whole(): string {
    return this.#flat + this.#chunk
  }

  put(piece: string): void {
    this.#room -= piece.length
    if (this.#room < 0) throw tooLarge
    this.#chunk += piece
    if (this.#chunk.length > chunkLengthMax) this.#flatten()
  }

  putString(value: string): void {
    this.requireRoom(value.length)
    this.put(jsonString(value))
  }

  /** A key with its colon, and what separates it from the field before. */
  putKey(key: string, separator: string): void {
    if (key.length > knownKeyLengthMax) {
      this.requireRoom(key.length)
      return this.put(`${separator}${jsonString(key)}:`)
    }
    let text = keyGet(this.#knownKeys, key)
    if (text === undefined) {
      text = `${jsonString(key)}:`
      if (this.#knownKeysLeft-- > 0) keySet(this.#knownKeys, key, text)
    }
    this.put(separator === '' ? text : separator + text)
  }

  /** Escaping only makes a string longer, so a string that cannot fit is refused before it is escaped. */
  requireRoom(length: number): void {
    if (length > this.#room) throw tooLarge
  }

  #flatten(): void {
    // Engines flatten a rope when one of its characters is read.
    stringCodeAt(this.#chunk, 0)
    this.#flat += this.#chunk
    this.#chunk = ''
  }
}
