/** One process of a random program while it is generated: its calls, and the descriptors that they return. */
import type { AllowedValues, Choice } from './allowed-values.ts'
import { dataNames } from './data.ts'
import type { Call } from './program.ts'

/** Boundary values of integers. */
const boundaries = [0, 1, 2, 3, 4, 7, 8, 16, 255, 256, 4095, 4096, 65_535, 65_536, 0x7fffffff, -1, -2]
const shares = { listed: 0.7, known: 0.9 }
const callsMax = 60

export class Draft {
  readonly calls: Call[] = []
  readonly #descriptors: string[] = []
  readonly #sockets: string[] = []
  readonly random: () => number
  readonly #allowed: AllowedValues

  constructor(random: () => number, allowed: AllowedValues) {
    this.random = random
    this.#allowed = allowed
  }

  get isFull(): boolean {
    return this.calls.length >= callsMax
  }

  readonly pick = <T>(from: readonly T[]): T => {
    const picked = from[Math.floor(this.random() * from.length)]
    if (picked === undefined && from.length === 0) throw new Error('There is nothing to pick from.')
    return picked as T
  }

  chance(share: number): boolean {
    return this.random() < share
  }

  /** Adds the call, and returns the word for its result. */
  call(name: string, ...words: readonly (string | number)[]): string {
    const label = `v${this.calls.length}`
    this.calls.push({ label, name, words: words.map(String) })
    return `$${label}`
  }

  /** A call whose descriptor others may use. */
  open(name: string, ...words: readonly (string | number)[]): string {
    const word = this.call(name, ...words)
    this.#descriptors.push(word)
    if (name === 'socket' || name === 'accept4') this.#sockets.push(word)
    return word
  }

  /** A place that another call has written to. */
  keep(word: string): void {
    this.#descriptors.push(word)
  }

  /** A socket if there is one, and occasionally something else. */
  socket(): string {
    return this.#sockets.length === 0 || this.chance(0.1) ? this.descriptor() : this.pick(this.#sockets)
  }

  descriptor(): string {
    return this.#descriptors.length === 0 || this.chance(0.02)
      ? String(this.pick([0, 1, 2, -1, -100]))
      : this.pick(this.#descriptors)
  }

  /** Mostly values that pass the filter, else known values, else any. */
  options(name: string, known: Readonly<Record<number, readonly number[]>>): (argument: number) => string {
    const dice = this.random()
    const listed: Choice = dice < shares.listed ? this.#allowed.choose(name, this.random) : new Map()
    return (argument) => {
      const value = listed.get(argument)
      if (value !== undefined && !(this.chance(0.1) && known[argument] !== undefined)) return String(value)
      const values = known[argument]
      return values !== undefined && dice < shares.known ? String(this.pick(values)) : this.integer()
    }
  }

  integer(): string {
    const dice = this.random()
    if (dice < 0.5) return String(this.pick(boundaries))
    if (dice < 0.8) return String(1 << Math.floor(this.random() * 31))
    return String(Math.floor(this.random() * 0x1_0000_0000))
  }

  flags(known: readonly number[]): string {
    const chosen = known.filter(() => this.chance(1.5 / known.length))
    const extra = this.chance(0.1) ? 1 << Math.floor(this.random() * 31) : 0
    return String([...chosen, extra].reduce((sum, bit) => sum | bit, 0))
  }

  data(): string {
    return this.chance(0.1) ? this.pick(['0', '1', 'm0', 'm0x1ff000', '-1']) : `@${this.pick(dataNames)}`
  }

  length(): string {
    return String(this.pick([0, 1, 4, 8, 12, 16, 16, 24, 40, 128, 216, 256, 1024, 4096, 0x7fffffff, -1]))
  }

  anything(): string {
    const dice = this.random()
    if (dice < 0.4) return this.integer()
    return dice < 0.7 ? this.data() : this.descriptor()
  }
}
