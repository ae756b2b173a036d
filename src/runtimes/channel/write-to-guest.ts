/** Writes to a guest that may be ending. */
import { writeSync } from 'node:fs'
import type { Duplex } from 'node:stream'

/**
 * If a write by Node fails because the guest has closed its end, Node destroys the socket, with everything that the guest
 * sent and that has not been read. So the bytes go straight to the descriptor, which does not block, and Node writes only
 * what has no room there.
 */
export function writeToGuest(stream: Duplex, bytes: Buffer): void {
  const taken = stream.writableLength > 0 ? 0 : writeDirectly(descriptorOf(stream), bytes)
  if (taken < bytes.length) stream.write(bytes.subarray(taken))
}

/** How many bytes need no further write. */
function writeDirectly(descriptor: number | undefined, bytes: Buffer): number {
  if (descriptor === undefined) return 0
  try {
    return writeSync(descriptor, bytes)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EAGAIN' ? 0 : bytes.length
  }
}

/** Undefined for a stream that is not a socket, or is closed. Node has no documented name for the descriptor. */
function descriptorOf(stream: Duplex): number | undefined {
  const { _handle: handle } = stream as { readonly _handle?: { readonly fd?: number } | null }
  return handle?.fd !== undefined && handle.fd >= 0 ? handle.fd : undefined
}
