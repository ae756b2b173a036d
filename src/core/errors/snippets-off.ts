/** One refusal of many doors, apart from the policy so that a command that needs no engine loads none of it. */
import { LazaretError } from './errors.ts'

/** The refusal of a snippet if the operator forbids snippets. */
export function snippetsAreOff(): LazaretError {
  return new LazaretError('RUNTIME_UNAVAILABLE', {
    detail: 'The operator has switched snippets off: `pools.snippet.max` is 0.',
    hint: 'Choose another runtime, or raise it.',
  })
}
