/** An error as the guest sees it: a bounded name and message, never a stack of the host. */
import { messageOf } from '../../core/primordials.ts'
import { isError, readProperty, textOr } from '../../core/values/read-value.ts'

const nameLengthMax = 256
const messageLengthMax = 16 * 1024

/** An error that Lazaret reports to the guest about a call. */
export class FunctionError {
  readonly #isOurs = true
  readonly name: string
  readonly message: string
  constructor(name: string, message: string) {
    this.name = name
    this.message = message
  }
  /** Unlike `instanceof`, runs no code of the value, which may be a proxy that throws. */
  static is(value: object): value is FunctionError {
    return #isOurs in value && value.#isOurs
  }
}

/** The answer to a call whose function threw, as JSON. */
export function writeThrow(id: number, thrown: unknown): string {
  const error = {
    name: nameOf(thrown).slice(0, nameLengthMax),
    message: sayThrown(thrown).slice(0, messageLengthMax),
  }
  return JSON.stringify({ type: 'throw', id, error })
}

/**
 * A function may throw a value of the guest, and the text of some takes the engine long, or for ever: of lists that contain
 * a list many times, of bytes, of long integers.
 */
function sayThrown(thrown: unknown): string {
  const isCostly = typeof thrown === 'bigint' || Array.isArray(thrown) || ArrayBuffer.isView(thrown)
  return isCostly ? 'a value that is no error' : messageOf(thrown)
}

function nameOf(thrown: unknown): string {
  if (typeof thrown !== 'object' || thrown === null) return 'Error'
  if (FunctionError.is(thrown)) return thrown.name
  return isError(thrown) ? textOr(readProperty(thrown, 'name'), 'Error') : 'Error'
}
