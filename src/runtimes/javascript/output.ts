/**
 * Writes bytes to a descriptor, all of them, before it returns: console text must reach its pipe in order with what
 * the guest writes itself. The descriptor may have been made non-blocking, or closed, by guest code.
 */
import { readSync, writeSync } from 'node:fs'
import { bytesLength, getOwnPropertyDescriptor } from '../../core/primordials.ts'

const { wait } = Atomics
// Never signalled: waiting on it is how a thread sleeps without an event loop.
const sleepCell = new Int32Array(new SharedArrayBuffer(4))
const retryMs = 1

/** Gives up silently when the other side is gone: there is nobody to tell. */
export function writeAll(descriptor: number, bytes: Uint8Array): void {
  let offset = 0
  const length = bytesLength(bytes)
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
  const code: unknown = getOwnPropertyDescriptor(thrown as object, 'code')?.value
  return code === 'EAGAIN' || code === 'EINTR'
}
