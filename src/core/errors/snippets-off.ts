/**
 * A refusal shared by many entry points, apart from the policy, so that a command without an engine loads nothing of
 * it.
 */
import { LazaretError } from './errors.ts'

/** The refusal of a snippet if the operator forbids snippets. */
export function snippetsAreOff(): LazaretError {
  return new LazaretError('RUNTIME_UNAVAILABLE', {
    detail: 'The operator has disabled snippets: `pools.snippet.max` is 0.',
    hint: 'Choose another runtime, or raise it.',
  })
}
