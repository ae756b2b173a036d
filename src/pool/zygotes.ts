/**
 * The interpreters that workers are forked from: one for each requested language, realm and list of modules, and one
 * for each client if the operator wants that. If an interpreter cannot be forked (no namespaces, a Python without
 * ctypes, a module that starts threads, an untested Bun or Node), workers are started one by one. Shell runs have no
 * interpreter: their cell has only the view, and each run is started in a space of it.
 */
import type { Clock } from '../core/clock.ts'
import type { Limits } from '../core/limits.ts'
import type { Machine } from '../jail/machine/machine.ts'
import type { Bind } from '../jail/plan/shape.ts'
import { withPossibleViews } from '../jail/machine/best-wall.ts'
import { limitMechanisms } from '../jail/limits/plan-limits.ts'
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
  /** The limits of a request that names none. */
  readonly usual: Limits
  readonly prove: ProveZygote
  readonly onZygoteFailing: (shape: WorkerShape, reason: unknown) => void
}

/** Resolves if its forks work. Throws if they do not. */
export type ProveZygote = (zygote: Zygote, shape: WorkerShape, signal: AbortSignal) => Promise<void>

interface Kept {
  readonly zygote: Promise<Zygote | null>
  /** Ends the wait for it. */
  readonly opening: AbortController
  forks: number
  readonly openedAt: number
  usedAt: number
  isOpen: boolean
  /** Replaces this one when it is ready. */
  next?: Kept
}

const guestsMax = 32
/** Enough memory for libraries, which use some before anything calls them. */
const memoryBytesMin = 1024 * 1024 * 1024
/**
 * A zygote is replaced after this many forks, because forks share the hash seed and the layout of memory. What a guest
 * has learned about these does not apply to later forks.
 */
export const forksMax = 1000
/** A zygote is also replaced after this time, for the same reason. */
export const ageMsMax = 15 * 60_000
/** The number of zygotes at one time: as many as pools. */
const zygotesMax = 16
/**
 * A zygote that was used within this time is not replaced by another. Otherwise two could displace each other for every
 * fork.
 */
const idleMs = 10_000
/** How long guests may take to end when the host is ending. */
const patienceMs = 3000
/** After a failed start, the next attempt waits this long. */
const pauseMs = 60_000

export class Zygotes implements AsyncDisposable {
  readonly #parts: ZygotesParts
  readonly #kept = new Map<string, Kept>()
  /** Zygotes that are closing, with a promise of their end. */
  readonly #retiring = new Map<Kept, Promise<void>>()
  /** The zygotes whose failure has been reported. */
  readonly #failing = new Set<string>()

  constructor(parts: ZygotesParts) {
    this.#parts = parts
  }

  /** A zygote for one fork. Resolves with null if the worker has to be started without one. Never rejects. */
  async take(shape: WorkerShape): Promise<Zygote | null> {
    const key = zygoteKey(shape)
    const kept = this.#use(key, shape)
    const zygote = await kept?.zygote
    if (kept === undefined || zygote === undefined || zygote === null) return null
    if (!zygote.alive) {
      void this.#forget(key, kept)
      return null
    }
    const isOld = ++kept.forks > forksMax || this.#parts.clock.now() - kept.openedAt > ageMsMax
    if (isOld) void this.#renew(key, shape, kept)
    return zygote.room > 0 ? zygote : null
  }

  /** Whether a zygote is ready; then a fork is ready before any started worker. Opens one if there is none. */
  stands(shape: WorkerShape): boolean {
    return this.#use(zygoteKey(shape), shape)?.isOpen === true
  }

  /** A fork of this zygote has failed, so the next one gets another zygote. */
  giveUp(shape: WorkerShape): void {
    const key = zygoteKey(shape)
    const kept = this.#kept.get(key)
    if (kept !== undefined) void this.#forget(key, kept)
  }

  /**
   * Ends zygotes that have no guests or are not ready yet, and resolves when that is done. The others end when their
   * last guest is gone.
   */
  async close(but: readonly WorkerShape[] = []): Promise<void> {
    const stay = new Set(but.map(zygoteKey))
    for (const [key, kept] of this.#kept) if (!stay.has(key)) void this.#forget(key, kept)
    const ended = [...this.#retiring].map(async ([kept, end]) => {
      const zygote = await kept.zygote
      if (zygote === null || zygote.isEmpty) await end
    })
    await Promise.allSettled(ended)
  }

  /**
   * For a host that is ending: guests that are not gone in time are ended with their zygote. (Pid 1 of the zygote's
   * cell, which reports the end of guests, may be stopped.)
   */
  endGuestsLater(): () => void {
    return this.#parts.clock.after(patienceMs, () => {
      for (const { zygote } of [...this.#kept.values(), ...this.#retiring.keys()])
        void zygote.then((one) => one?.[Symbol.asyncDispose]()).catch(() => undefined)
    })
  }

  /** Call this after every run has ended. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
    await Promise.allSettled(this.#retiring.values())
  }

  /** Undefined if there is no room for one more. */
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
    return { zygote, opening, forks: 0, openedAt: now, usedAt: now, isOpen: false }
  }

  #keep(key: string, kept: Kept): Kept {
    this.#kept.set(key, kept)
    void this.#watch(key, kept)
    return kept
  }

  /** The old one serves until the new one is ready. */
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
    const needsCgroup = shape.runtime.zygote?.needsCgroup === true
    if (needsCgroup && limitMechanisms(machine).processesMax !== 'cgroup') return null
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
   * Reports a failure once, until a zygote works again. Runtimes whose forks need no test report nothing here: a worker
   * that is started without a zygote meets the same failure and reports it, or does not need the zygote.
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
    // The next host removes what cannot be removed here, as it does after a host that was killed.
    const end = kept.zygote.then((zygote) => zygote?.retire()).catch(() => undefined)
    this.#retiring.set(kept, end)
    void end.then(() => this.#retiring.delete(kept))
    return end
  }
}
