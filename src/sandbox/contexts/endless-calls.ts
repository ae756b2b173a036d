/**
 * Functions of the host that code calls which has no limit on its time. Other code of its context begins after it, so a
 * function that awaits such code waits for its own caller, and nothing would ever end that.
 */
import { AsyncLocalStorage } from 'node:async_hooks'

import { LazaretError } from '../../core/errors/errors.ts'
import type { HostFunction } from '../../core/request.ts'

type Functions = Readonly<Record<string, HostFunction>>

interface Call {
  /** The context's, by identity. */
  readonly context: object
  isPending: boolean
}

const calls = new AsyncLocalStorage<Call>()

/** The same functions, whose calls are known as those of this context. */
export function noteCalls(context: object, functions: Functions): Functions {
  const noted = Object.entries(functions).map(([name, act]) => {
    const perform: HostFunction = function (this: ThisParameterType<HostFunction>, ...args) {
      const call: Call = { context, isPending: true }
      const result = calls.run<unknown>(call, () => act.apply(this, args))
      const settle = (): void => void (call.isPending = false)
      if (result instanceof Promise) result.then(settle, settle)
      else settle()
      return result
    }
    return [name, perform]
  })
  return Object.fromEntries(noted) as Functions
}

/** Throws INVALID_REQUEST in a function that code of this context waits for. */
export function refuseEndlessWait(context: object): void {
  const call = calls.getStore()
  if (call?.isPending !== true || call.context !== context) return
  throw new LazaretError('INVALID_REQUEST', {
    detail:
      'The code that calls this function has no timeout, and other code of its context begins after it.',
    hint: 'Use another context, give the calling code a `timeout`, or begin the other code when the function has returned.',
  })
}
