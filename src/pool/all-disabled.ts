/** The refusal of a pool that has no slots, or whose slots are all disabled. */
import { LazaretError } from '../core/errors/errors.ts'

/** `count` is the number of its slots. */
export function allDisabled(count: number): LazaretError {
  const [detail, hint] =
    count === 0
      ? [
          'The operator has switched it off: the `max` of its pool is 0.',
          'Choose another runtime, or raise `max`.',
        ]
      : [
          `All ${count} workers were disabled, because each of them crashed too often.`,
          "Read the pool's events for the reason, then initialize it again.",
        ]
  return new LazaretError('RUNTIME_UNAVAILABLE', { detail, hint })
}
