/**
 * Host functions called by code without a time limit. Other code of its context begins after it, so a
 * function that awaits such code waits for its own caller, which would never end.
 */
import { AsyncLocalStorage } from 'node:async_hooks'

import { LazaretError } from '../../core/errors/errors.ts'
import type { HostFunction } from '../../core/request.ts'

type Functions = Readonly<Record<string, HostFunction>>

interface Call {
  /** Identifies the context. */
  readonly context: object
  isPending: boolean
}

const calls = new AsyncLocalStorage<Call>()

/** The same functions, with calls that are attributed to this context. */
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

/** Throws INVALID_REQUEST inside a function that code of this context waits for. */
export function refuseEndlessWait(context: object): void {
  const call = calls.getStore()
  if (call?.isPending !== true || call.context !== context) return
  throw new LazaretError('INVALID_REQUEST', {
    detail:
      'The code that calls this function has no timeout, and other code of its context begins after it.',
    hint: 'Use another context, give the calling code a `timeout`, or begin the other code when the function has returned.',
  })
}
