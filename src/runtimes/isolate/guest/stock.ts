/** Isolates that are created ahead, each for one program, with the libraries that earlier programs used already evaluated. */
import type { Context, ExternalCopy, Isolate, Reference } from 'isolated-vm'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { randomText } from '../../../core/clock.ts'
import type { Inside } from '../inside/protocol.ts'
import type { LibraryPlace } from '../protocol.ts'
import type { Engine } from './engine.ts'
import { answerUrl } from './urls.ts'

/** The listener of a running program. */
export interface ProgramListener {
  log(level: string, text: string): void
  call(id: number, name: string, json: string): void
  /** The JSON of an `IsolateOutcome`. */
  settle(json: string): void
}

/** Returns a reference to a function inside the isolate. Creating a reference costs time, so it is created on demand. */
export type OpenEntry = (name: keyof Inside) => Reference

/** One isolate, ready for its program. */
export interface Prepared {
  readonly isolate: Isolate
  readonly entry: OpenEntry
  /** Receives the program's messages. Undefined before the isolate has a program. */
  listener: ProgramListener | undefined
}

/** The kind of program for which an isolate is created. */
export interface Want {
  readonly memoryMiB: number
  readonly libraries: readonly string[]
}

/** The global that opens the inside of an isolate. It is deleted then. */
const openName = '$lazaretOpen'
/** Runs before the snapshot is taken, so that the snapshot contains the code that V8 compiles for every program. */
const warmUp = `{
  const inside = globalThis.${openName}(() => {}, () => {}, (bytes) => 'x'.repeat(bytes), () => undefined, () => {}, () => {})
  inside.start('{"source":"output = input","mode":"service","input":"[1]","calls":[],"allowed":[]}')
}`

/**
 * How many isolates of each kind are kept ready (fewer with libraries, because these are large), and how many kinds. All of
 * them together must fit into what `isolatesMax` in host.ts allows.
 */
const plainMax = 3
const loadedMax = 2
const kindsMax = 3
/** How many failed kinds are remembered, which are not tried again. */
const failedMax = 100
/** Parts of the harness that the inside loads like libraries. No library has such a name, because it may not contain a colon. */
const partsOfInside: Readonly<Record<string, LibraryPlace>> = Object.assign(Object.create(null) as object, {
  'lazaret:values': { file: 'values.js' },
  'lazaret:shims': { file: 'shims.js' },
})
/** The time limit for evaluating a library ahead. */
const loadMs = 10_000
/** The limit of one `getRandomValues` call (Web Cryptography, section 10.1.1). */
const randomBytesMax = 65_536

export class Stock {
  readonly #engine: Engine
  /**
   * A snapshot in which the inside has been evaluated. Each isolate starts from it. It contains only Lazaret's own code.
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
      warmUp,
    )
  }

  get libraryNames(): readonly string[] {
    return Object.keys(this.#libraries)
  }

  /** Returns a prepared isolate, or creates one. */
  take(want: Want): Prepared {
    return this.want(want).pop() ?? this.#make({ ...want, libraries: [] })
  }

  waitingFor(want: Want): number {
    return this.#waiting.get(kindOf(want))?.prepared.length ?? 0
  }

  /** The ready isolates of a kind. From now on this kind is kept in stock. */
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

  /** Creates a missing isolate. Returns false if none is missing. */
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

  /** A library of this kind throws or needs too much memory. Programs that use it get the error themselves. */
  #giveUp(kind: string): void {
    this.#waiting.delete(kind)
    if (this.#failed.size >= failedMax) this.#failed.clear()
    this.#failed.add(kind)
  }

  #make({ memoryMiB, libraries }: Want): Prepared {
    const isolate = new this.#engine.Isolate({ memoryLimit: memoryMiB, snapshot: this.#snapshot })
    const context = isolate.createContextSync()
    const own: { listener: ProgramListener | undefined } = { listener: undefined }
    const entry = this.#connect(context, own)
    try {
      for (const name of libraries) entry('load').applySync(undefined, [name], { timeout: loadMs })
    } catch (thrown) {
      if (!isolate.isDisposed) isolate.dispose()
      throw thrown
    }
    return Object.assign(own, { isolate, entry })
  }

  #connect(context: Context, own: { readonly listener: ProgramListener | undefined }): OpenEntry {
    const { Callback } = this.#engine
    const callbacks = [
      new Callback((level: unknown, text: unknown) => own.listener?.log(String(level), String(text))),
      new Callback((id: unknown, name: unknown, json: unknown) =>
        own.listener?.call(Number(id), String(name), String(json)),
      ),
      new Callback((bytes: unknown) => giveRandom(Number(bytes))),
      new Callback((name: unknown) => this.#sourceOf(String(name))),
      new Callback((json: unknown) => own.listener?.settle(String(json))),
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
    // Every program needs this reference.
    entry('start')
    return entry
  }

  /** Reads a source at its first request, and caches it. */
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
