/** Where time and randomness come from. */
import { randomFillSync, randomUUID } from 'node:crypto'
import { closeSync, openSync, readSync } from 'node:fs'

import { timerMsMax } from './limits.ts'

/** All code gets time and randomness from here, so that tests can control them. */
export interface Clock {
  /** Milliseconds on a monotonic clock. */
  now(): number
  /** Wall-clock time for people, ISO 8601. */
  timestamp(): string
  /** Calls back after `ms`; the returned function cancels. */
  after(ms: number, callback: () => void): () => void
  /** Calls back every `ms` until the returned function is called. Does not keep the process alive. */
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
  id: () => (identifiers++ < fromKernelMax ? kernelIdentifier() : undefined) ?? randomUUID(),
}

/**
 * The first identifiers of a process come from the kernel. Loading OpenSSL takes a fifth of the time of an empty
 * script, and a command needs only two identifiers.
 */
const fromKernelMax = 8
let identifiers = 0

/** A random UUID (RFC 9562, version 4). Undefined where there is no `/dev/urandom`. */
function kernelIdentifier(): string | undefined {
  const bytes = Buffer.alloc(16)
  try {
    const file = openSync('/dev/urandom', 'r')
    try {
      if (readSync(file, bytes) !== bytes.length) return undefined
    } finally {
      closeSync(file)
    }
  } catch {
    return undefined
  }
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x40, 6)
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8)
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

/**
 * Milliseconds of processor time that this thread has used. Unlike wall-clock time it does not advance while other processes
 * have the processor, so it bounds work on a busy machine too.
 */
export function processorMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/** What the event loop of this thread has had, in milliseconds. */
export interface LoopTime {
  /** The wall-clock time in which it did not wait for events. */
  readonly activeMs: number
  /** The processor time of its thread. */
  readonly processorMs: number
}

export function loopTime(): LoopTime {
  // The kernel brings the count of a running thread up to date only when that of the whole process is read. Otherwise
  // the count may be one tick old.
  process.cpuUsage()
  return { activeMs: performance.eventLoopUtilization().active, processorMs: processorMs() }
}

/** Random bytes, each as a character below U+0100, because only text can cross between realms that share no objects. */
export function randomText(bytes: number): string {
  return randomFillSync(Buffer.allocUnsafe(bytes)).toString('latin1')
}

/** A random number from 0 to 1, not for secrets. */
export function randomFraction(): number {
  return Math.random()
}

/** Calls back after `ms`, unless the returned function is called before. Does not keep the process alive. */
export function unlessBefore(clock: Clock, ms: number, callback: () => void): () => void {
  const cancel = clock.every(ms, () => {
    cancel()
    callback()
  })
  return cancel
}

/**
 * Keeps the process alive until the returned function is called. A pending promise does not keep it alive, nor do
 * Lazaret's threads.
 */
export function holdProcess(clock: Clock): () => void {
  return clock.after(timerMsMax, () => undefined)
}
