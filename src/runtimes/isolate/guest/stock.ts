/** Isolates that are made ahead, each for one program: with the libraries evaluated that programs like it have asked for. */
import type { Context, ExternalCopy, Isolate, Reference } from 'isolated-vm'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { randomText } from '../../../core/clock.ts'
import type { Inside } from '../inside/protocol.ts'
import type { LibraryPlace } from '../protocol.ts'
import type { Engine } from './engine.ts'
import { answerUrl } from './urls.ts'

/** The listener of a program while it runs. */
export interface Hearer {
  log(level: string, text: string): void
  call(id: number, name: string, json: string): void
  /** The JSON of an `IsolateOutcome`. */
  settle(json: string): void
}

/** A function of the inside: made a reference when it is needed, because each costs time that most programs need not pay. */
export type OpenEntry = (name: keyof Inside) => Reference

/** One isolate, ready for its program. */
export interface Prepared {
  readonly isolate: Isolate
  readonly entry: OpenEntry
  /** The listener of the program's messages; none before it has a program. */
  hearer: Hearer | undefined
}

/** What an isolate is made for. */
export interface Want {
  readonly memoryMiB: number
  readonly libraries: readonly string[]
}

/** The inside of an isolate, until it has been opened. */
const openName = '$lazaretOpen'
/** What every program does, done once before the snapshot is taken: what V8 compiles on the way is in it. */
const rehearsal = `{
  const inside = globalThis.${openName}(() => {}, () => {}, (bytes) => 'x'.repeat(bytes), () => undefined, () => {}, () => {})
  inside.start('{"source":"output = input","mode":"service","input":"[1]","calls":[],"allowed":[]}')
}`

/**
 * How many wait of each kind, and how many kinds; those with libraries are large. All of them together must fit into what
 * `isolatesMax` in host.ts allows.
 */
const plainMax = 3
const loadedMax = 2
const kindsMax = 3
/** Kinds that could not be made, and are not tried again. */
const failedMax = 100
/** What the inside asks for like a library; no library has such a name, because none may hold a colon. */
const partsOfInside: Readonly<Record<string, LibraryPlace>> = Object.assign(Object.create(null) as object, {
  'lazaret:values': { file: 'values.js' },
  'lazaret:shims': { file: 'shims.js' },
})
/** A library takes its time to evaluate; a program may ask for another one yet. */
const loadMs = 10_000
/** `getRandomValues` takes no more at once (Web Cryptography, section 10.1.1). */
const randomBytesMax = 65_536

export class Stock {
  readonly #engine: Engine
  /**
   * The inside, evaluated: each isolate begins with it. It is made here, of our own text alone.
   */
  readonly #snapshot: ExternalCopy<ArrayBuffer>
  readonly #sources = new Map<string, string>()
  readonly #libraries: Readonly<Record<string, LibraryPlace>>
  readonly #failed = new Set<string>()
  /** Isolates by kind; the most recently requested kind is last. */
  readonly #waiting = new Map<string, { readonly want: Want; readonly prepared: Prepared[] }>()

  constructor(engine: Engine, insideText: string, libraries: Readonly<Record<string, LibraryPlace>>) {
    this.#engine = engine
    this.#libraries = libraries
    this.#snapshot = engine.Isolate.createSnapshot(
      [{ code: `globalThis.${openName} = ${insideText}` }],
      rehearsal,
    )
  }

  get libraryNames(): readonly string[] {
    return Object.keys(this.#libraries)
  }

  /** A prepared isolate, or else a fresh one. */
  take(want: Want): Prepared {
    return this.want(want).pop() ?? this.#make({ ...want, libraries: [] })
  }

  waitingFor(want: Want): number {
    return this.#waiting.get(kindOf(want))?.prepared.length ?? 0
  }

  /** The isolates of a kind, which is kept in stock from now on. */
  want(want: Want): Prepared[] {
    const kind = kindOf(want)
    if (this.#failed.has(kind)) return []
    const waiting = this.#waiting.get(kind) ?? { want, prepared: [] }
    this.#waiting.delete(kind)
    this.#waiting.set(kind, waiting)
    for (const [old, { prepared }] of [...this.#waiting].slice(0, -kindsMax)) {
      for (const { isolate } of prepared) isolate.dispose()
      this.#waiting.delete(old)
    }
    return waiting.prepared
  }

  /** Makes one that is missing. False when none is. */
  refillOne(): boolean {
    for (const [kind, { want, prepared }] of [...this.#waiting].toReversed()) {
      if (prepared.length >= (want.libraries.length === 0 ? plainMax : loadedMax)) continue
      try {
        prepared.push(this.#make(want))
      } catch {
        this.#giveUp(kind)
      }
      return true
    }
    return false
  }

  /** A library of the kind throws, or takes more memory than there is. Programs that name it hear so themselves. */
  #giveUp(kind: string): void {
    this.#waiting.delete(kind)
    if (this.#failed.size >= failedMax) this.#failed.clear()
    this.#failed.add(kind)
  }

  #make({ memoryMiB, libraries }: Want): Prepared {
    const isolate = new this.#engine.Isolate({ memoryLimit: memoryMiB, snapshot: this.#snapshot })
    const context = isolate.createContextSync()
    const own: { hearer: Hearer | undefined } = { hearer: undefined }
    const entry = this.#furnish(context, own)
    try {
      for (const name of libraries) entry('load').applySync(undefined, [name], { timeout: loadMs })
    } catch (thrown) {
      if (!isolate.isDisposed) isolate.dispose()
      throw thrown
    }
    return Object.assign(own, { isolate, entry })
  }

  #furnish(context: Context, own: { readonly hearer: Hearer | undefined }): OpenEntry {
    const { Callback } = this.#engine
    const callbacks = [
      new Callback((level: unknown, text: unknown) => own.hearer?.log(String(level), String(text))),
      new Callback((id: unknown, name: unknown, json: unknown) =>
        own.hearer?.call(Number(id), String(name), String(json)),
      ),
      new Callback((bytes: unknown) => giveRandom(Number(bytes))),
      new Callback((name: unknown) => this.#sourceOf(String(name))),
      new Callback((json: unknown) => own.hearer?.settle(String(json))),
      new Callback((question: unknown) => answerUrl(String(question))),
    ]
    const open = context.global.getSync(openName, { reference: true })
    context.global.deleteSync(openName)
    const inside = open.applySync(undefined, callbacks, { result: { reference: true } }) as Reference<
      Record<string, unknown>
    >
    const entries = new Map<string, Reference>()
    const entry: OpenEntry = (name) => {
      const known = entries.get(name) ?? inside.getSync(name, { reference: true })
      entries.set(name, known)
      return known
    }
    // Every program needs this one.
    entry('start')
    return entry
  }

  /** Read when it is first requested, and kept. */
  #sourceOf(name: string): string | undefined {
    const known = this.#sources.get(name)
    if (known !== undefined) return known
    const place = Object.hasOwn(this.#libraries, name) ? this.#libraries[name] : partsOfInside[name]
    if (place === undefined) return undefined
    const source =
      'source' in place ? place.source : readFileSync(join(import.meta.dirname, place.file), 'utf8')
    this.#sources.set(name, source)
    return source
  }
}

function giveRandom(bytes: number): string {
  return randomText(Number.isInteger(bytes) && bytes > 0 ? Math.min(bytes, randomBytesMax) : 0)
}

const kindOf = ({ memoryMiB, libraries }: Want): string => JSON.stringify([memoryMiB, libraries])
