/** Where time and randomness come from. */
import { randomFillSync, randomUUID } from 'node:crypto'

/** Time and randomness arrive through this, so that tests can hold them. */
export interface Clock {
  /** Milliseconds on a monotonic clock. */
  now(): number
  /** Wall-clock time for people, ISO 8601. */
  timestamp(): string
  /** Calls back after `ms`; the returned function cancels. */
  after(ms: number, callback: () => void): () => void
  /** Calls back every `ms` until the returned function is called. Keeps no process from ending. */
  every(ms: number, callback: () => void): () => void
  /** A fresh identifier. */
  id(): string
}

export const systemClock: Clock = {
  now: () => performance.now(),
  timestamp: () => new Date().toISOString(),
  after(ms, callback) {
    const timer = setTimeout(callback, ms)
    return () => clearTimeout(timer)
  },
  every(ms, callback) {
    const timer = setInterval(callback, ms)
    timer.unref()
    return () => clearInterval(timer)
  },
  id: () => randomUUID(),
}

/** So many random bytes, each a character below U+0100: texts cross between realms that share no objects. */
export function randomText(bytes: number): string {
  return randomFillSync(Buffer.allocUnsafe(bytes)).toString('latin1')
}

/** From 0 to 1, not for secrets. */
export function randomFraction(): number {
  return Math.random()
}

/** Keeps the process from ending, which neither a promise nor a thread of ours does, until the function is called. */
export function holdProcess(clock: Clock): () => void {
  return clock.after(timerMsMax, () => undefined)
}

/** The longest that a timer can wait: 25 days. */
const timerMsMax = 2 ** 31 - 1
