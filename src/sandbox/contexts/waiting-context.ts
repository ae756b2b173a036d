/**
 * The interpreter that is ready for the next context: after one start, the next of its kind is started ahead, and kept for a
 * while. It has run nothing, and has the variables that commands had then; if they change, another one is started.
 */
import type { Clock } from '../../core/clock.ts'
import { ContextProcess } from './context-process.ts'
import type { ContextProcessParts } from './context-process.ts'

/** The same time as for the next secure space. */
const waitingMs = 30_000

interface Waiting {
  readonly kind: string
  readonly process: Promise<ContextProcess | undefined>
  readonly stop: () => void
}

export class WaitingContext {
  readonly #clock: Clock
  #waiting: Waiting | undefined
  #isOver = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** The ready one, if it is of that kind, else a new one. Throws what starting one throws. */
  async take(parts: ContextProcessParts): Promise<ContextProcess> {
    const waiting = this.#waiting
    if (waiting?.kind === kindOf(parts)) {
      this.#waiting = undefined
      waiting.stop()
      const process = await waiting.process
      if (process?.isLost === false) return process
      await process?.end()
    }
    return ContextProcess.start(parts)
  }

  /** Keeps one of that kind ready, and no other. */
  prepare(parts: ContextProcessParts): void {
    const kind = kindOf(parts)
    if (this.#isOver || this.#waiting?.kind === kind) return
    void this.#giveUp().catch(() => undefined)
    const process = ContextProcess.start(parts).catch(() => undefined)
    void process.then((one) => one?.rest())
    const stop = this.#clock.every(waitingMs, () => void this.#giveUp().catch(() => undefined))
    this.#waiting = { kind, process, stop }
  }

  /** Resolves when none is left. */
  async end(): Promise<void> {
    this.#isOver = true
    await this.#giveUp()
  }

  async #giveUp(): Promise<void> {
    const waiting = this.#waiting
    this.#waiting = undefined
    waiting?.stop()
    await (await waiting?.process)?.end()
  }
}

function kindOf({ program, limits, env }: ContextProcessParts): string {
  return JSON.stringify([program.argv, limits.memoryBytes, Object.entries(env).toSorted(byName)])
}

const byName = ([one]: [string, string], [other]: [string, string]): number => (one < other ? -1 : 1)
