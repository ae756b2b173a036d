/**
 * The interpreters that workers are forks of: one for each requested language, realm and list of modules, and one for
 * each client if the operator wants that. Where none can be had (no namespaces, a Python without ctypes, a module that
 * starts threads, an untested Bun) workers are started one by one instead.
 */
import type { Clock } from '../core/clock.ts'
import type { Limits } from '../core/limits.ts'
import type { Machine } from '../jail/machine/machine.ts'
import type { Bind } from '../jail/plan/shape.ts'
import { withPossibleViews } from '../jail/machine/best-wall.ts'
import { openZygote } from '../jail/cell/zygote-cell.ts'
import type { Zygote, ZygoteProgram } from '../jail/cell/zygote-cell.ts'
import { showFolders } from '../runtimes/packages/guest-packages.ts'
import type { PackageFolders } from '../runtimes/packages/guest-packages.ts'
import type { Toolchains } from '../runtimes/packages/toolchains.ts'
import { zygoteKey } from './shape.ts'
import type { WorkerShape } from './shape.ts'

export interface ZygotesParts {
  readonly machine: Machine
  readonly clock: Clock
  readonly toolchains: Toolchains
  /** The operator's folders. */
  readonly readable: readonly Bind[]
  readonly packages: PackageFolders
  /** Limits of a request that asks for none. */
  readonly usual: Limits
  readonly prove: ProveZygote
  readonly onZygoteFailing: (shape: WorkerShape, reason: unknown) => void
}

/** Resolves when forks of it work. Throws when they do not. */
export type ProveZygote = (zygote: Zygote, shape: WorkerShape, signal: AbortSignal) => Promise<void>

interface Kept {
  readonly zygote: Promise<Zygote | null>
  /** Ends the wait for it. */
  readonly opening: AbortController
  births: number
  readonly openedAt: number
  usedAt: number
  isOpen: boolean
  /** Takes its place when it stands. */
  next?: Kept
}

const guestsMax = 32
/** Libraries take memory before anybody uses them. */
const memoryBytesMin = 1024 * 1024 * 1024
/** Forks share the seed of hashes and the layout of memory: what a guest learned of them is worth nothing after this. */
const birthsMax = 1000
/** And what a guest learned is worth nothing to guests of later. */
const ageMsMax = 15 * 60_000
/** At one time, as many as there are pools. */
const zygotesMax = 16
/** One that was used since then makes no room for another: else they would take turns, and each be opened for one fork. */
const idleMs = 10_000
/** How long the guests of a host that ends may take. */
const patienceMs = 3000
/** After a zygote failed to start, how long no other one is tried. */
const pauseMs = 60_000

export class Zygotes implements AsyncDisposable {
  readonly #parts: ZygotesParts
  readonly #kept = new Map<string, Kept>()
  readonly #closing = new Set<Promise<void>>()
  readonly #retiring = new Set<Kept>()
  /** Of which somebody has been told. */
  readonly #failing = new Set<string>()

  constructor(parts: ZygotesParts) {
    this.#parts = parts
  }

  /** For one birth. Resolves with null where a worker has to be started without one. Never rejects. */
  async take(shape: WorkerShape): Promise<Zygote | null> {
    const key = zygoteKey(shape)
    const kept = this.#use(key, shape)
    const zygote = await kept?.zygote
    if (kept === undefined || zygote === undefined || zygote === null) return null
    if (!zygote.alive) {
      void this.#forget(key, kept)
      return null
    }
    const isOld = ++kept.births > birthsMax || this.#parts.clock.now() - kept.openedAt > ageMsMax
    if (isOld) void this.#renew(key, shape, kept)
    return zygote.room > 0 ? zygote : null
  }

  /** Whether one stands already: then a fork of it is there before anything that is started. Opens one where none does. */
  stands(shape: WorkerShape): boolean {
    return this.#use(zygoteKey(shape), shape)?.isOpen === true
  }

  /** A birth that it was taken for has failed: the next one is another's. */
  giveUp(shape: WorkerShape): void {
    const key = zygoteKey(shape)
    const kept = this.#kept.get(key)
    if (kept !== undefined) void this.#forget(key, kept)
  }

  /** Ends those that have no guests or do not stand yet, and resolves then; the others when their last guest is gone. */
  async close(but: readonly WorkerShape[] = []): Promise<void> {
    const stay = new Set(but.map(zygoteKey))
    const ending = [...this.#kept].filter(([key]) => !stay.has(key))
    const ended = ending.map(async ([key, kept]) => {
      const closing = this.#forget(key, kept)
      const zygote = await kept.zygote
      if (zygote === null || zygote.isEmpty) await closing
    })
    await Promise.allSettled(ended)
  }

  /**
   * For a host that ends: whoever is not gone in time ends with its zygote. Pid 1 of the zygote's cell reports that a
   * guest is gone, and somebody may have stopped it.
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

  /** Undefined where there is no room for one more. */
  #use(key: string, shape: WorkerShape): Kept | undefined {
    const kept = this.#kept.get(key) ?? (this.#makeRoom() ? this.#keep(key, this.#start(shape)) : undefined)
    if (kept !== undefined) kept.usedAt = this.#parts.clock.now()
    return kept
  }

  #makeRoom(): boolean {
    if (this.#kept.size < zygotesMax) return true
    const [oldest] = [...this.#kept].toSorted(([, a], [, b]) => a.usedAt - b.usedAt)
    if (oldest === undefined || this.#parts.clock.now() - oldest[1].usedAt < idleMs) return false
    void this.#forget(...oldest)
    return true
  }

  #start(shape: WorkerShape): Kept {
    const opening = new AbortController()
    const now = this.#parts.clock.now()
    const zygote = this.#tryToOpen(shape, opening.signal)
    return { zygote, opening, births: 0, openedAt: now, usedAt: now, isOpen: false }
  }

  #keep(key: string, kept: Kept): Kept {
    this.#kept.set(key, kept)
    void this.#watch(key, kept)
    return kept
  }

  /** The old one serves until the new one stands. */
  async #renew(key: string, shape: WorkerShape, old: Kept): Promise<void> {
    if (old.next !== undefined || this.#kept.get(key) !== old) return
    const next = this.#start(shape)
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

  async #tryToOpen(shape: WorkerShape, signal: AbortSignal): Promise<Zygote | null> {
    const { toolchains, machine } = this.#parts
    const shown = showFolders(this.#parts, shape.environment)
    try {
      const program = shape.runtime.zygote?.plan({ ...shape, ...shown, toolchains }) ?? null
      if (program === null) return null
      const zygote = await withPossibleViews(machine, () => this.#openProven(program, shape, signal))
      this.#failing.delete(zygoteKey(shape))
      return zygote
    } catch (reason) {
      if (!signal.aborted) this.#tellOf(shape, reason)
      return null
    }
  }

  async #openProven(program: ZygoteProgram, shape: WorkerShape, signal: AbortSignal): Promise<Zygote | null> {
    const { machine, clock, usual, prove } = this.#parts
    const limits = { ...usual, memoryBytes: Math.max(usual.memoryBytes, memoryBytesMin) }
    const zygote = await openZygote({ machine, clock, program, limits, guestsMax, signal })
    try {
      if (zygote !== null) await prove(zygote, shape, signal)
      return zygote
    } catch (error) {
      await zygote?.[Symbol.asyncDispose]()
      throw error
    }
  }

  /**
   * Once until it can be had again. Where nothing has to be proved, whatever the reason is: a worker that is started
   * without a zygote will meet the same failure and report it, or does not need the zygote.
   */
  #tellOf(shape: WorkerShape, reason: unknown): void {
    const key = zygoteKey(shape)
    if (shape.runtime.zygote?.proof === undefined || this.#failing.has(key)) return
    this.#failing.add(key)
    this.#parts.onZygoteFailing(shape, reason)
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
