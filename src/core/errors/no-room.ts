/**
 * Refuses a sandbox, context, port or the like because others take all the room. They stay until their owner ends them, so
 * a retry would fail in the same way.
 */
import { LazaretError } from './errors.ts'

/** `message` says what takes the room, `hint` how to make some. */
export function noRoom(
  message: string,
  hint: string,
  code: 'QUEUE_FULL' | 'CLIENT_QUEUE_FULL' = 'QUEUE_FULL',
): LazaretError {
  return new LazaretError(code, { message, hint, retryable: false })
}
