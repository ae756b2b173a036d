/**
 * The displays of an entry, as in notebooks: `display(value)`, and values with a method `Symbol.for('Jupyter.display')`
 * that returns a MIME bundle. All displays of an entry together share the size limit of one value.
 */
import { bytesLength, jsonString, utf8 } from '../../../core/primordials.ts'
import { send } from '../channel.ts'
import { inspectValue } from '../console/inspect.ts'

const method = Symbol.for('Jupyter.display')
const typesMax = 64
/** The same as `idCharactersMax` of the host. */
const idCharactersMax = 200

export interface DisplayOptions {
  /** The value is a MIME bundle itself. */
  readonly raw?: boolean
  /** The id by which it can be replaced. */
  readonly display_id?: string
  /** Replaces the display that has this id. */
  readonly update?: boolean
}

interface Place {
  readonly id: string
  readonly isUpdate: boolean
}

export class Displays {
  readonly #bytesMax: number
  #bytesLeft: number
  #isFull = false
  #clearsNext = false
  /** The bytes of each display with an id, which its update frees. */
  readonly #sizes = new Map<string, number>()

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
    this.#bytesLeft = bytesMax
  }

  /** Clears earlier displays: at once, or when the next display arrives. */
  clear({ wait = false }: { readonly wait?: boolean } = {}): void {
    send(`{"type":"clear","wait":${wait ? 'true' : 'false'}}`)
    if (wait) this.#clearsNext = true
    else this.#startOver()
  }

  #startOver(): void {
    this.#bytesLeft = this.#bytesMax
    this.#isFull = false
    this.#clearsNext = false
    this.#sizes.clear()
  }

  /** Displays a value that has the display method, which may return a promise. Ignores any other value. */
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
    this.#bytesLeft += old
    this.#isFull = false
  }

  #send(bundle: object, place: Place | undefined): void {
    this.#makeRoom(place)
    if (this.#isFull) return
    const before = this.#bytesLeft
    const fields: string[] = []
    for (const [type, content] of Object.entries(bundle).slice(0, typesMax)) {
      const text = textOf(content)
      if (text === undefined) continue
      const field = `${jsonString(type)}:${jsonString(text)}`
      const bytes = bytesLength(utf8(field))
      if (bytes > this.#bytesLeft) {
        this.#isFull = true
        continue
      }
      this.#bytesLeft -= bytes
      fields.push(field)
    }
    if (place !== undefined)
      this.#sizes.set(place.id, (this.#sizes.get(place.id) ?? 0) + before - this.#bytesLeft)
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
    // Treated as a value without the method.
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
