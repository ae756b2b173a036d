/**
 * Writes plain data as JSON in UTF-8, as `JSON.stringify` does, but in parts: the value of a guest may have half a million
 * keys, and would block the event loop for a quarter of a second. A result may have sixty megabytes, and encoding them at
 * once takes half of that.
 */
import { keysOf } from '../known-keys.ts'
import { sliceText } from './text-slices.ts'

/** The most simple members that are written without a pause. */
const membersAtOnce = 256
const shortTextLength = 256
/** The most members of a container that counts as simple, if all of them are numbers, short texts and the like. */
const fewMembers = 8
/** A pause after each container would take longer than writing it. */
const containersAtOnce = 64
const pieceLength = 64 * 1024

interface Open {
  readonly node: object
  /** `null` for a list. */
  readonly keys: readonly string[] | null
  readonly count: number
  next: number
  separator: string
}

/** A piece that is complete, or nothing: a pause. */
type Written = Generator<Buffer | undefined, void, undefined>

/**
 * Writes a piece whenever it is asked to continue and some 64 KiB are complete. The data are a tree: no object in them is
 * part of itself.
 */
export function* jsonPieces(data: unknown): Written {
  const writing = new Writing()
  yield* writing.write(data)
  for (let turns = 0; ; turns++) {
    if (turns % containersAtOnce === 0) yield writing.take()
    const frame = writing.top
    if (frame === undefined) break
    if (frame.next === frame.count) writing.close(frame)
    else if (writing.writeSimple(frame)) yield writing.take()
    else yield* writing.writeMember(frame)
  }
  writing.finish()
  for (let piece = writing.take(); piece !== undefined; piece = writing.take()) yield piece
}

class Writing {
  readonly #pieces: Buffer[] = []
  readonly #open: Open[] = []
  #piece = ''

  get top(): Open | undefined {
    return this.#open.at(-1)
  }

  finish(): void {
    this.#flush()
  }

  /** The next complete piece. */
  take(): Buffer | undefined {
    return this.#pieces.shift()
  }

  close({ keys }: Open): void {
    this.#put(keys === null ? ']' : '}')
    this.#open.pop()
  }

  /** Writes the next members up to one that is a container or a long text. Returns whether there were any. */
  writeSimple(frame: Open): boolean {
    const until = Math.min(frame.count, frame.next + membersAtOnce)
    const from = frame.next
    if (frame.keys === null) {
      const items = frame.node as readonly unknown[]
      while (frame.next < until && isSimple(items[frame.next])) frame.next++
      if (frame.next === from) return false
      this.#put(frame.separator + JSON.stringify(items.slice(from, frame.next)).slice(1, -1))
      frame.separator = ','
      return true
    }
    for (; frame.next < until; frame.next++) {
      const { key, value } = memberOf(frame)
      if (!isShort(key) || !isSimple(value)) break
      const text = JSON.stringify(value) as string | undefined
      if (text === undefined) continue
      this.#put(`${frame.separator}${JSON.stringify(key)}:${text}`)
      frame.separator = ','
    }
    return frame.next > from
  }

  *writeMember(frame: Open): Written {
    const { key, value } = memberOf(frame)
    frame.next++
    this.#put(frame.separator)
    frame.separator = ','
    if (frame.keys !== null) {
      yield* this.write(key)
      this.#put(':')
    }
    yield* this.write(value)
  }

  *write(given: unknown): Written {
    const value = plainOf(given)
    if (typeof value === 'string') yield* this.#writeText(value)
    else if (typeof value !== 'object' || value === null) this.#put(textOf(value))
    else {
      const keys = Array.isArray(value) ? null : keysOf(value)
      const { length: count } = keys ?? (value as readonly unknown[])
      this.#put(keys === null ? '[' : '{')
      this.#open.push({ node: value, keys, count, next: 0, separator: '' })
    }
  }

  *#writeText(text: string): Written {
    this.#put('"')
    for (let at = 0; at < text.length;) {
      const slice = sliceText(text, at)
      this.#put(JSON.stringify(slice.text).slice(1, -1))
      at = slice.end
      if (at < text.length) yield this.take()
    }
    this.#put('"')
  }

  #put(text: string): void {
    this.#piece += text
    if (this.#piece.length >= pieceLength) this.#flush()
  }

  #flush(): void {
    this.#pieces.push(Buffer.from(this.#piece))
    this.#piece = ''
  }
}

function memberOf({ node, keys, next }: Open): { readonly key: string; readonly value: unknown } {
  const key = keys?.[next] ?? ''
  return { key, value: Reflect.get(node, keys === null ? next : key) as unknown }
}

const isShort = (text: string): boolean => text.length <= shortTextLength

function isSimple(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return isSimpleLeaf(value)
  if (Array.isArray(value)) return value.length <= fewMembers && value.every(isSimpleLeaf)
  const keys = keysOf(value)
  // What it returns may be anything.
  if ('toJSON' in value) return false
  return (
    keys.length <= fewMembers && keys.every((key) => isShort(key) && isSimpleLeaf(Reflect.get(value, key)))
  )
}

function isSimpleLeaf(value: unknown): boolean {
  return typeof value === 'string' ? isShort(value) : typeof value !== 'object' || value === null
}

/** What JSON shows of a value: the result of its own `toJSON`. */
export function plainOf(value: unknown): unknown {
  const { toJSON } = (value ?? {}) as { readonly toJSON?: unknown }
  return typeof toJSON === 'function' ? (toJSON.call(value) as unknown) : value
}

/** A function, a symbol or `undefined` in a list, or alone, is written as `null`. */
function textOf(value: unknown): string {
  const text = JSON.stringify(value) as string | undefined
  return text ?? 'null'
}
