/**
 * Where each object was seen first. It uses several small tables, because the engine copies a whole table when it
 * grows: with half a million objects, that takes a tenth of a second without a pause. Runs after guest code, so it uses
 * captured built-ins only.
 */
import { uncurryThis } from '../primordials.ts'

const tableSizeMax = 131_072

const SeenMap = Map<object, unknown>
const seenGet = uncurryThis(SeenMap.prototype.get)
const seenSet = uncurryThis(SeenMap.prototype.set)

interface Table {
  readonly places: Map<object, unknown>
  readonly older: Table | undefined
}

export class SeenObjects<Place> {
  #newest: Table = { places: new SeenMap(), older: undefined }
  #room = tableSizeMax

  get(value: object): Place | undefined {
    for (let table: Table | undefined = this.#newest; table !== undefined; table = table.older) {
      const place = seenGet(table.places, value)
      if (place !== undefined) return place as Place
    }
    return undefined
  }

  set(value: object, place: Place): void {
    if (this.#room === 0) {
      this.#newest = { places: new SeenMap(), older: this.#newest }
      this.#room = tableSizeMax
    }
    this.#room--
    seenSet(this.#newest.places, value, place)
  }
}
