/**
 * Writes bytes to a descriptor, all of them, before it returns: console text must reach its pipe in order with what
 * the guest writes itself. The descriptor may have been made non-blocking, or closed, by guest code.
 */
import fs from 'node:fs'
import { bytesLength, defineProperty, getOwnPropertyDescriptor } from '../../core/primordials.ts'

// Taken now: named imports of built-ins change when guest code calls syncBuiltinESMExports().
const { readSync, writeSync } = fs
const { wait } = Atomics
// Never signalled: waiting on it is how a thread sleeps without an event loop.
const sleepCell = new Int32Array(new SharedArrayBuffer(4))
const retryMs = 1

/** Gives up silently when the other side is gone: there is nobody to tell. */
export function writeAll(descriptor: number, bytes: Uint8Array): void {
  let offset = 0
  const length = bytesLength(bytes)
  // Node reads this one, and would find a getter of the guest's.
  defineProperty(bytes, 'byteLength', { __proto__: null, value: length } as PropertyDescriptor)
  while (offset < length) {
    try {
      offset += writeSync(descriptor, bytes, offset, length - offset)
    } catch (thrown) {
      if (!isBusy(thrown)) return
      wait(sleepCell, 0, 0, retryMs)
    }
  }
}

/** Fills `bytes`; `false` at the end of the stream. */
export function readAll(descriptor: number, bytes: Uint8Array): boolean {
  let offset = 0
  const length = bytesLength(bytes)
  while (offset < length) {
    try {
      const count = readSync(descriptor, bytes, offset, length - offset, null)
      if (count === 0) return false
      offset += count
    } catch (thrown) {
      if (!isBusy(thrown)) return false
      wait(sleepCell, 0, 0, retryMs)
    }
  }
  return true
}

function isBusy(thrown: unknown): boolean {
  if (typeof thrown !== 'object' || thrown === null) return false
  const code: unknown = getOwnPropertyDescriptor(thrown, 'code')?.value
  return code === 'EAGAIN' || code === 'EINTR'
}
