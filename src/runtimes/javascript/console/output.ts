/**
 * Writes bytes to a descriptor, all of them, before it returns: console text must reach its pipe in order with what
 * the guest writes itself. The descriptor may have been made non-blocking, or closed, by guest code.
 */
import { bytesLength } from '../../../core/primordials.ts'
import { busy, failed, systemCalls } from '../realm/system-calls.ts'

const { read, write } = systemCalls
const { wait } = Atomics
// Never signalled: waiting on it is how a thread sleeps without an event loop.
const sleepCell = new Int32Array(new SharedArrayBuffer(4))
const retryMs = 1

/** Gives up silently when the other side is gone: there is no one to tell. */
export function writeAll(descriptor: number, bytes: Uint8Array): void {
  let offset = 0
  const length = bytesLength(bytes)
  while (offset < length) {
    const count = write(descriptor, bytes, offset)
    if (count === failed) return
    if (count === busy) wait(sleepCell, 0, 0, retryMs)
    else offset += count
  }
}

/** Fills `bytes`; `false` at the end of the stream. */
export function readAll(descriptor: number, bytes: Uint8Array): boolean {
  let offset = 0
  const length = bytesLength(bytes)
  while (offset < length) {
    const count = read(descriptor, bytes, offset)
    if (count === 0 || count === failed) return false
    if (count === busy) wait(sleepCell, 0, 0, retryMs)
    else offset += count
  }
  return true
}
