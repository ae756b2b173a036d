/**
 * What an entry shows, as notebooks show it: `display(value)`, and values that say how with `Symbol.for('Jupyter.display')`.
 * All of it together may be as long as a value may be.
 */
import { bytesLength, jsonString, utf8 } from '../../../core/primordials.ts'
import { send } from '../channel.ts'
import { inspectValue } from '../console/inspect.ts'

const method = Symbol.for('Jupyter.display')
const typesMax = 64
/** `idCharactersMax` of the host. */
const idCharactersMax = 200

export interface DisplayOptions {
  /** The value is a MIME bundle itself. */
  readonly raw?: boolean
  /** The id by which it can be replaced. */
  readonly display_id?: string
  /** Takes the place of what was shown by that id. */
  readonly update?: boolean
}

interface Place {
  readonly id: string
  readonly isUpdate: boolean
}

export class Displays {
  readonly #bytesMax: number
  #room: number
  #isFull = false
  #clearsNext = false
  /** The bytes of each display with an id, which its update frees. */
  readonly #sizes = new Map<string, number>()

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
    this.#room = bytesMax
  }

  /** Clears earlier displays: at once, or when the next display arrives. */
  clear({ wait = false }: { readonly wait?: boolean } = {}): void {
    send(`{"type":"clear","wait":${wait ? 'true' : 'false'}}`)
    if (wait) this.#clearsNext = true
    else this.#startOver()
  }

  #startOver(): void {
    this.#room = this.#bytesMax
    this.#isFull = false
    this.#clearsNext = false
    this.#sizes.clear()
  }

  /** A value that says how it is to be shown, or promises to say so, is shown; any other is left alone. */
  showRich(value: unknown, place?: Place): Promise<void> | undefined {
    const bundle = askForBundle(value)
    if (!(bundle instanceof Promise)) return this.#sendAny(bundle, place)
    return bundle.then(
      (asked: unknown) => this.#sendAny(asked, place),
      () => undefined,
    )
  }

  show(value: unknown, options: DisplayOptions = {}): Promise<void> | undefined {
    const { raw = false, display_id: id, update = false } = options
    const place = id === undefined ? undefined : { id: `${id}`.slice(0, idCharactersMax), isUpdate: update }
    if (raw) return this.#sendAny(value, place)
    if (isRich(value)) return this.showRich(value, place)
    return this.#sendAny({ 'text/plain': inspectValue(value) }, place)
  }

  #sendAny(bundle: unknown, place: Place | undefined): undefined {
    if (typeof bundle === 'object' && bundle !== null) this.#send(bundle, place)
  }

  #makeRoom(place: Place | undefined): void {
    if (this.#clearsNext) this.#startOver()
    const old = place?.isUpdate === true ? this.#sizes.get(place.id) : undefined
    if (place === undefined || old === undefined) return
    this.#sizes.delete(place.id)
    this.#room += old
    this.#isFull = false
  }

  #send(bundle: object, place: Place | undefined): void {
    this.#makeRoom(place)
    if (this.#isFull) return
    const before = this.#room
    const fields: string[] = []
    for (const [type, content] of Object.entries(bundle).slice(0, typesMax)) {
      const text = textOf(content)
      if (text === undefined) continue
      const field = `${jsonString(type)}:${jsonString(text)}`
      const bytes = bytesLength(utf8(field))
      if (bytes > this.#room) {
        this.#isFull = true
        continue
      }
      this.#room -= bytes
      fields.push(field)
    }
    if (place !== undefined) this.#sizes.set(place.id, (this.#sizes.get(place.id) ?? 0) + before - this.#room)
    const marks = `${this.#isFull ? ',"truncated":true' : ''}${place === undefined ? '' : markOf(place)}`
    send(`{"type":"display","bundle":{${fields.join()}}${marks}}`)
  }
}

function markOf({ id, isUpdate }: Place): string {
  return `,"id":${jsonString(id)}${isUpdate ? ',"update":true' : ''}`
}

function isRich(value: unknown): value is object {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false
  try {
    return typeof Reflect.get(value, method) === 'function'
  } catch {
    return false
  }
}

function askForBundle(value: unknown): unknown {
  if (!isRich(value)) return undefined
  try {
    return Reflect.apply(Reflect.get(value, method) as () => unknown, value, [])
  } catch {
    // The same as if it did not say so.
    return undefined
  }
}

function textOf(content: unknown): string | undefined {
  if (typeof content === 'string') return content
  if (content instanceof Uint8Array) return Buffer.from(content).toString('base64')
  try {
    return JSON.stringify(content)
  } catch {
    return undefined
  }
}
