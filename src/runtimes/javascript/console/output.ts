/**
 * Blocking reads and writes of whole buffers. Console text must reach its pipe in order with what the guest itself writes,
 * so a write returns only when all bytes are written. Guest code may have closed the descriptor or made it non-blocking.
 */
import { bytesLength } from '../../../core/primordials.ts'
import { busy, failed, systemCalls } from '../realm/system-calls.ts'

const { read, write } = systemCalls
const { wait } = Atomics
// Nothing notifies it: a thread waits on it to sleep without an event loop.
const sleepCell = new Int32Array(new SharedArrayBuffer(4))
const retryMs = 1

/** Stops silently when the other end is closed. */
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
