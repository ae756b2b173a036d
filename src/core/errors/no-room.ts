/**
 * The refusal of one thing more where things that last take all the room. They stay until their owner ends them, so
 * another attempt in a few seconds fails in the same way.
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
