/**
 * Running runs, found by their token and id, to cancel them and to pass on the answers of the caller's functions. To
 * other tokens they do not exist.
 */
import { LazaretError } from '../../core/errors/errors.ts'
import type { FunctionCall, HostFunction } from '../../core/request.ts'
import { encodeSteps } from '../../core/values/encode-value.ts'
import { loopTurns } from '../../runtimes/channel/loop-turns.ts'
import type { ApiToken } from './api-tokens.ts'

/** Sends a function call, which is already JSON, to the client that started the run. */
export type SendCall = (json: string) => Promise<void>

/** The content of an answer. */
export type CallAnswer = { readonly value: unknown } | { readonly error: Error }

interface Waiting {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: Error) => void
}

export class OpenRun implements Disposable {
  readonly #cancelled = new AbortController()
  readonly #waiting = new Map<string, Waiting>()
  readonly #close: () => void
  #calls = 0
  /** When the last call was sent. */
  #sent: Promise<void> = Promise.resolve()

  constructor(close: () => void) {
    this.#close = close
  }

  get signal(): AbortSignal {
    return this.#cancelled.signal
  }

  cancel(): void {
    this.#cancelled.abort()
  }

  /** Functions that the guest may call by these names; each call is sent, and ends with its answer or with the run. */
  functions(names: readonly string[], send: SendCall): Record<string, HostFunction> {
    const ask = (name: string, args: readonly unknown[], signal: AbortSignal) =>
      this.#ask({ name, args, signal }, send)
    return Object.fromEntries(
      names.map((name) => [
        name,
        function (this: FunctionCall, ...args: unknown[]): Promise<unknown> {
          return ask(name, args, this.signal)
        },
      ]),
    )
  }

  /** Returns whether a call was waiting for it. */
  answer(call: string, answer: CallAnswer): boolean {
    const waiting = this.#waiting.get(call)
    this.#waiting.delete(call)
    if ('error' in answer) waiting?.reject(answer.error)
    else waiting?.resolve(answer.value)
    return waiting !== undefined
  }

  [Symbol.dispose](): void {
    this.#close()
  }

  async #ask(
    { name, args, signal }: { name: string; args: readonly unknown[]; signal: AbortSignal },
    send: SendCall,
  ): Promise<unknown> {
    const call = String(++this.#calls)
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    // It may be rejected while `send` still waits for a slow reader.
    promise.catch(() => undefined)
    this.#waiting.set(call, { resolve, reject })
    const stop = (): void => void this.answer(call, { error: new Error('The call has ended.') })
    signal.addEventListener('abort', stop, { once: true })
    try {
      const before = this.#sent
      const sendInTurn = async (): Promise<void> => {
        await before
        if (this.#waiting.has(call)) await send(await writeCall(call, name, args))
      }
      this.#sent = sendInTurn().catch(reject)
      return await promise
    } finally {
      signal.removeEventListener('abort', stop)
      this.#waiting.delete(call)
    }
  }
}

/** The guest chose the arguments: encoded at once, they could block the server for a tenth of a second, call after call. */
async function writeCall(call: string, name: string, args: readonly unknown[]): Promise<string> {
  const { json } = await loopTurns.perform(encodeSteps(args))
  return `{"call":${JSON.stringify(call)},"name":${JSON.stringify(name)},"args":${json}}`
}

export class OpenRuns {
  readonly #runs = new Map<string, { readonly run: OpenRun; readonly token: ApiToken }>()

  /** It is found until it is disposed. Throws INVALID_REQUEST if the token has another run with this id. */
  open(token: ApiToken, id: string): OpenRun {
    const key = keyOf(token, id)
    if (this.#runs.has(key))
      throw new LazaretError('INVALID_REQUEST', {
        detail: 'X-Request-Id: a run with this id is already running.',
      })
    const run = new OpenRun(() => this.#runs.delete(key))
    this.#runs.set(key, { run, token })
    return run
  }

  /** Throws NOT_FOUND. */
  find(token: ApiToken, id: string): OpenRun {
    const found = this.#runs.get(keyOf(token, id))
    if (found === undefined) throw new LazaretError('NOT_FOUND')
    return found.run
  }

  cancelOf(token: ApiToken): void {
    for (const one of this.#runs.values()) if (one.token.hash.equals(token.hash)) one.run.cancel()
  }
}

function keyOf({ hash }: ApiToken, id: string): string {
  return `${hash.toString('hex')} ${id}`
}
