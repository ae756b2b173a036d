/**
 * Writes each kind of container: its members one by one, the text between them, and the text that ends it. Runs after
 * guest code, like `encode-value.ts`, and takes the same care. It stores nothing in arrays, because guest code may have
 * added setters to their prototype.
 */
import type { JsonText } from './json-text.ts'
import { uncurryThis } from '../primordials.ts'
import { hasField, isList, readKeys, readProperty, textOr, Unreadable } from './read-value.ts'

/** The position of a value: the steps back to the root of the encoded document, and how deeply the value is nested. */
export interface Place {
  readonly parent: Place | undefined
  readonly step: string | number
  readonly depth: number
}

export const below = (parent: Place, step: string | number): Place => ({ parent, step, depth: parent.depth })

export interface MemberWriter {
  readonly text: JsonText
  child(value: unknown, parent: Place, step: string | number): void
}

export interface Members {
  readonly count: number
  readonly close: string
  /** Called in order. */
  write(index: number, writer: MemberWriter): void
}

export class ArrayMembers implements Members {
  readonly count: number
  readonly close = ']'
  readonly #value: readonly unknown[]
  readonly #place: Place

  constructor(value: readonly unknown[], length: number, place: Place) {
    this.#value = value
    this.count = length
    this.#place = place
  }

  write(index: number, writer: MemberWriter): void {
    if (index > 0) writer.text.put(',')
    const item = readProperty(this.#value, index)
    if (item === undefined && !hasField(this.#value, index)) writer.text.put('{"$type":"hole"}')
    else writer.child(item, this.#place, index)
  }
}

export class FieldsMembers implements Members {
  readonly count: number
  readonly close: string
  readonly #value: object
  readonly #keys: readonly string[]
  readonly #place: Place

  constructor(
    value: object,
    keys: readonly string[],
    { place, close }: { readonly place: Place; readonly close: string },
  ) {
    this.#value = value
    this.#keys = keys
    this.count = keys.length
    this.#place = place
    this.close = close
  }

  write(index: number, writer: MemberWriter): void {
    const key = this.#keys[index] as string
    writer.text.putKey(key, index === 0 ? '' : ',')
    writer.child(readProperty(this.#value, key), this.#place, key)
  }
}

/** Members as they were when the encoder reached them. */
interface Linked {
  readonly key: unknown
  readonly item: unknown
  next: Linked | undefined
}

const mapForEach = uncurryThis(Map.prototype.forEach)
const setForEach = uncurryThis(Set.prototype.forEach)

/** Each member takes at least two characters, so the list ends as soon as its members cannot fit. */
class Links {
  count = 0
  first: Linked | undefined
  #last: Linked | undefined
  readonly #text: JsonText

  constructor(text: JsonText) {
    this.#text = text
  }

  add(key: unknown, item: unknown): void {
    this.count++
    this.#text.requireRoom(2 * this.count)
    const link: Linked = { key, item, next: undefined }
    if (this.#last === undefined) this.first = link
    else this.#last.next = link
    this.#last = link
  }
}

export class MapMembers implements Members {
  readonly count: number
  readonly close = ']}'
  readonly #entries: Place
  #link: Linked | undefined
  #entry: Place

  constructor(value: ReadonlyMap<unknown, unknown>, place: Place, text: JsonText) {
    const links = new Links(text)
    mapForEach(value, (item, key) => links.add(key, item))
    // Three steps for each entry: the key, the value and the end of the pair. Key and value may have members of their
    // own.
    this.count = 3 * links.count
    this.#link = links.first
    this.#entries = below(place, 'value')
    this.#entry = this.#entries
  }

  write(index: number, writer: MemberWriter): void {
    const link = this.#link
    switch (index % 3) {
      case 0:
        this.#entry = below(this.#entries, index / 3)
        writer.text.put(index === 0 ? '[' : ',[')
        writer.child(link?.key, this.#entry, 0)
        break
      case 1:
        writer.text.put(',')
        writer.child(link?.item, this.#entry, 1)
        break
      default:
        writer.text.put(']')
        this.#link = link?.next
    }
  }
}

export class SetMembers implements Members {
  readonly count: number
  readonly close = ']}'
  readonly #items: Place
  #link: Linked | undefined

  constructor(value: ReadonlySet<unknown>, place: Place, text: JsonText) {
    const links = new Links(text)
    setForEach(value, (item) => links.add(item, item))
    this.count = links.count
    this.#link = links.first
    this.#items = below(place, 'value')
  }

  write(index: number, writer: MemberWriter): void {
    if (index > 0) writer.text.put(',')
    writer.child(this.#link?.item, this.#items, index)
    this.#link = this.#link?.next
  }
}

/** The cause of an error, the errors of an aggregate, and the error's own fields. */
export class ErrorMembers implements Members {
  readonly count: number
  readonly name: string
  readonly message: string
  readonly stack: string | undefined
  readonly #value: Error
  readonly #place: Place
  readonly #keys: readonly string[]
  #fieldsWritten = 0

  constructor(value: Error, place: Place) {
    this.#value = value
    this.#place = place
    this.name = textOr(readProperty(value, 'name'), 'Error')
    this.message = textOr(readProperty(value, 'message'), '')
    const stack = readProperty(value, 'stack')
    this.stack = typeof stack === 'string' ? stack : undefined
    const keys = readKeys(value)
    this.#keys = Unreadable.is(keys) ? noKeys : keys
    this.count = 2 + this.#keys.length
  }

  get close(): string {
    return this.#fieldsWritten > 0 ? '}}' : '}'
  }

  write(index: number, writer: MemberWriter): void {
    if (index === 0) this.#writeCause(writer)
    else if (index === 1) this.#writeErrors(writer)
    else this.#writeField(this.#keys[index - 2] as string, writer)
  }

  #writeCause(writer: MemberWriter): void {
    if (!hasField(this.#value, 'cause')) return
    writer.text.put(',"cause":')
    writer.child(readProperty(this.#value, 'cause'), this.#place, 'cause')
  }

  #writeErrors(writer: MemberWriter): void {
    const errors = hasField(this.#value, 'errors') ? readProperty(this.#value, 'errors') : undefined
    if (typeof errors !== 'object' || errors === null || !isList(errors)) return
    writer.text.put(',"errors":')
    writer.child(errors, this.#place, 'errors')
  }

  #writeField(key: string, writer: MemberWriter): void {
    if (isErrorField(key)) return
    writer.text.putKey(key, this.#fieldsWritten++ === 0 ? ',"properties":{' : ',')
    writer.child(readProperty(this.#value, key), below(this.#place, 'properties'), key)
  }
}

const noKeys: readonly string[] = []

/** Fields that are written elsewhere. */
function isErrorField(key: string): boolean {
  switch (key) {
    case 'name':
    case 'message':
    case 'stack':
    case 'cause':
    case 'errors':
      return true
    default:
      return false
  }
}
