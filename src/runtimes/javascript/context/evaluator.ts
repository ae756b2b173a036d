/**
 * Evaluates entries in V8's REPL mode: `let`, `const` and `class` may be declared again, top-level `await` works, and the
 * completion value is the result. The inspector passes values to a function of this file.
 */
import { Session } from 'node:inspector'
import type { Runtime } from 'node:inspector'
import { promiseHooks } from 'node:v8'

import { define } from '../modules/define.ts'

export type Evaluated =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'thrown'; readonly thrown: unknown; readonly at: ThrownAt }
  /** An interruption ended it. */
  | { readonly kind: 'interrupted' }

/** Both count from 1. */
export interface ThrownAt {
  readonly line: number
  readonly column: number
}

const group = 'entry'
/** How long evaluating a path for its property names may take. */
const listNamesMs = 100

export class Evaluator {
  #session = new Session()
  #sinkId = ''
  #taken: unknown
  /**
   * The promise of the running entry. If it were collected, because its code was terminated or awaits what never comes,
   * V8 would report that amid the collection, when no code may run, and end the process.
   */
  readonly #held = new Set<Promise<unknown>>()

  constructor() {
    this.#connect()
  }

  /** Stops waiting for the evaluation that was interrupted. */
  forget(): void {
    this.#session.disconnect()
    this.#held.clear()
    this.#session = new Session()
    this.#connect()
  }

  #connect(): void {
    this.#session.connect()
    define(globalThis, '$lazaretSink', (value: unknown) => {
      this.#taken = value
    })
    const take = (_error: Error | null, { result }: Runtime.EvaluateReturnType): void => {
      this.#sinkId = result.objectId ?? ''
    }
    this.#session.post('Runtime.evaluate', { expression: '$lazaretSink' }, take)
    Reflect.deleteProperty(globalThis, '$lazaretSink')
  }

  /** Calls `onDone` once, after a promise has settled; never if the evaluation is interrupted while it awaits a promise. */
  evaluate(expression: string, onDone: (evaluated: Evaluated) => void): void {
    const params = { expression, replMode: true, awaitPromise: true, objectGroup: group, silent: true }
    const answer = (error: Error | null, response: Runtime.EvaluateReturnType): void => {
      this.#held.clear()
      if (error !== null) return onDone({ kind: 'interrupted' })
      const { result, exceptionDetails } = response
      if (exceptionDetails === undefined) return onDone({ kind: 'value', value: this.#take(result) })
      const thrown = this.#take(exceptionDetails.exception ?? result)
      onDone({ kind: 'thrown', thrown, at: placeOf(exceptionDetails) })
    }
    this.#holdPromise(() => this.#session.post('Runtime.evaluate', params, answer))
    this.#session.post('Runtime.releaseObjectGroup', { objectGroup: group })
  }

  /** The promise of an entry is the first one that its evaluation creates. */
  #holdPromise(evaluate: () => void): void {
    const stop = promiseHooks.onInit((promise) => {
      stop()
      this.#held.add(promise)
    })
    evaluate()
    stop()
  }

  /** The property names of the value at `path`, or the global names if it is empty. Evaluates nothing that has side effects. */
  listNames(path: string): string[] {
    if (path === '') return [...this.#lexicalNames(), ...Object.getOwnPropertyNames(globalThis)]
    const names: string[] = []
    const expression = `Object(${path})`
    const params = {
      expression,
      throwOnSideEffect: true,
      silent: true,
      timeout: listNamesMs,
      objectGroup: group,
    }
    this.#session.post(
      'Runtime.evaluate',
      params,
      (_error: Error | null, answer: Runtime.EvaluateReturnType) => {
        const { result, exceptionDetails } = answer
        const { objectId } = result
        if (exceptionDetails !== undefined || objectId === undefined) return
        this.#session.post(
          'Runtime.getProperties',
          { objectId },
          (_failure: Error | null, { result: properties }: Runtime.GetPropertiesReturnType) =>
            names.push(...properties.map(({ name }) => name)),
        )
      },
    )
    this.#session.post('Runtime.releaseObjectGroup', { objectGroup: group })
    return names
  }

  #lexicalNames(): string[] {
    let found: string[] = []
    this.#session.post(
      'Runtime.globalLexicalScopeNames',
      (_error: Error | null, { names }: Runtime.GlobalLexicalScopeNamesReturnType) => (found = names),
    )
    return found
  }

  #take(remote: Runtime.RemoteObject): unknown {
    const { objectId, unserializableValue, value } = remote
    if (objectId === undefined && unserializableValue === undefined) return value as unknown
    const argument = objectId === undefined ? { unserializableValue } : { objectId }
    this.#session.post('Runtime.callFunctionOn', {
      objectId: this.#sinkId,
      functionDeclaration: 'function(value){this(value)}',
      arguments: [argument],
    })
    const taken = this.#taken
    this.#taken = undefined
    return taken
  }
}

/** Where the engine stopped. For code that does not compile, this is the position of the error. */
function placeOf({ lineNumber, columnNumber }: Runtime.ExceptionDetails): ThrownAt {
  return { line: lineNumber + 1, column: columnNumber + 1 }
}
