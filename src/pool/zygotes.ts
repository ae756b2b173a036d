/**
 * The interpreters that Python's workers are forks of: one for each list of modules that is asked for. Where none can be
 * had (no namespaces, a Python without ctypes, a module that starts threads) workers are started one by one instead.
 */
import type { Clock } from '../core/clock.ts'
import type { Limits } from '../core/limits.ts'
import type { Machine } from '../jail/machine.ts'
import type { Bind } from '../jail/shape.ts'
import { withPossibleViews } from '../jail/best-wall.ts'
import { openZygote } from '../jail/zygote-cell.ts'
import type { Zygote } from '../jail/zygote-cell.ts'
import { planPythonZygote } from '../runtimes/python/zygote.ts'
import type { Toolchains } from '../runtimes/toolchains.ts'

export interface ZygotesParts {
  readonly machine: Machine
  readonly clock: Clock
  readonly toolchains: Toolchains
  readonly readable: readonly Bind[]
  /** Limits of a request that asks for none. */
  readonly usual: Limits
}

interface Kept {
  readonly zygote: Promise<Zygote | null>
  /** Ends the wait for it. */
  readonly opening: AbortController
  births: number
  isOpen: boolean
  /** Takes its place when it stands. */
  next?: Kept
}

const guestsMax = 32
/** Libraries take memory before anybody uses them. */
const memoryBytesMin = 1024 * 1024 * 1024
/** Forks share the seed of hashes and the layout of memory: what a guest learned of them is worth nothing after this. */
const birthsMax = 1000
/** Lists of modules at one time. */
const zygotesMax = 4
/** How long the guests of a host that ends may take. */
const patienceMs = 3000
/** After a zygote could not be had, nobody asks for so long. */
const pauseMs = 60_000

export class Zygotes implements AsyncDisposable {
  readonly #parts: ZygotesParts
  readonly #kept = new Map<string, Kept>()
  readonly #closing = new Set<Promise<void>>()
  readonly #retiring = new Set<Kept>()

  constructor(parts: ZygotesParts) {
    this.#parts = parts
  }

  /** For one birth. Resolves with null where a worker has to be started without one. Never rejects. */
  async take(preload: readonly string[]): Promise<Zygote | null> {
    const key = JSON.stringify(preload)
    const kept = this.#kept.get(key) ?? this.#open(key, preload)
    const zygote = await kept.zygote
    if (zygote === null) return null
    if (!zygote.alive) {
      void this.#forget(key, kept)
      return null
    }
    if (++kept.births > birthsMax) void this.#renew(key, preload, kept)
    return zygote.room > 0 ? zygote : null
  }

  /** Whether one stands already: then a fork of it is there before anything that is started. Opens one where none does. */
  stands(preload: readonly string[]): boolean {
    const key = JSON.stringify(preload)
    return (this.#kept.get(key) ?? this.#open(key, preload)).isOpen
  }

  /** A birth that it was taken for has failed: the next one is another's. */
  giveUp(preload: readonly string[]): void {
    const key = JSON.stringify(preload)
    const kept = this.#kept.get(key)
    if (kept !== undefined) void this.#forget(key, kept)
  }

  /** Ends those that have no guests or do not stand yet, and resolves then; the others when their last guest is gone. */
  async close(): Promise<void> {
    const ended = [...this.#kept].map(async ([key, kept]) => {
      const closing = this.#forget(key, kept)
      const zygote = await kept.zygote
      if (zygote === null || zygote.isEmpty) await closing
    })
    await Promise.allSettled(ended)
  }

  /**
   * For a host that ends: whoever is not gone in time ends with its zygote. That a guest is gone is told by pid 1 of the
   * zygote's cell, which somebody may have stopped.
   */
  endGuestsLater(): () => void {
    return this.#parts.clock.after(patienceMs, () => {
      for (const { zygote } of [...this.#kept.values(), ...this.#retiring])
        void zygote.then((one) => one?.[Symbol.asyncDispose]()).catch(() => undefined)
    })
  }

  /** Call when every run has ended. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
    await Promise.allSettled(this.#closing)
  }

  #open(key: string, preload: readonly string[]): Kept {
    for (const [oldest, kept] of this.#kept)
      if (this.#kept.size >= zygotesMax) void this.#forget(oldest, kept)
    return this.#keep(key, this.#start(preload))
  }

  #start(preload: readonly string[]): Kept {
    const opening = new AbortController()
    return { zygote: this.#tryToOpen(preload, opening.signal), opening, births: 0, isOpen: false }
  }

  #keep(key: string, kept: Kept): Kept {
    this.#kept.set(key, kept)
    void this.#watch(key, kept)
    return kept
  }

  /** The old one serves until the new one stands. */
  async #renew(key: string, preload: readonly string[], old: Kept): Promise<void> {
    if (old.next !== undefined || this.#kept.get(key) !== old) return
    const next = this.#start(preload)
    old.next = next
    await next.zygote
    if (this.#kept.get(key) !== old) return
    delete old.next
    void this.#forget(key, old)
    this.#keep(key, next)
  }

  async #watch(key: string, kept: Kept): Promise<void> {
    const zygote = await kept.zygote
    if (zygote === null) return this.#forgetLater(key, kept)
    kept.isOpen = true
    await zygote.gone
    await this.#forget(key, kept)
  }

  async #tryToOpen(preload: readonly string[], signal: AbortSignal): Promise<Zygote | null> {
    const { machine, clock, toolchains, readable, usual } = this.#parts
    const python = toolchains.python({ forEverybody: false })
    if (python === null) return null
    try {
      return await withPossibleViews(machine, async () =>
        openZygote({
          machine,
          clock,
          program: planPythonZygote(python, { preload, readable }),
          limits: { ...usual, memoryBytes: Math.max(usual.memoryBytes, memoryBytesMin) },
          guestsMax,
          signal,
        }),
      )
    } catch {
      // Whatever the reason is: a worker that is started without it will meet it too, or needs no zygote to be had.
      return null
    }
  }

  #forgetLater(key: string, kept: Kept): void {
    const cancel = this.#parts.clock.every(pauseMs, () => {
      cancel()
      if (this.#kept.get(key) === kept) this.#kept.delete(key)
    })
  }

  #forget(key: string, kept: Kept): Promise<void> {
    if (this.#kept.get(key) !== kept) return Promise.resolve()
    this.#kept.delete(key)
    if (kept.next !== undefined) void this.#retire(kept.next)
    return this.#retire(kept)
  }

  #retire(kept: Kept): Promise<void> {
    kept.opening.abort()
    // What cannot be removed the next host sweeps, as it does after one that died.
    const closing = kept.zygote.then((zygote) => zygote?.retire()).catch(() => undefined)
    this.#closing.add(closing)
    this.#retiring.add(kept)
    void closing.then(() => this.#closing.delete(closing))
    void closing.then(() => this.#retiring.delete(kept))
    return closing
  }
}
