/**
 * A refusal that many entry points share. It has its own file, so that a command without an engine does not load the
 * policy.
 */
import { LazaretError } from './errors.ts'

/** The refusal of a snippet if the operator forbids snippets. */
export function snippetsAreOff(): LazaretError {
  return new LazaretError('RUNTIME_UNAVAILABLE', {
    detail: 'The operator has disabled snippets: `pools.snippet.max` is 0.',
    hint: 'Choose another runtime, or raise `pools.snippet.max`.',
  })
}
