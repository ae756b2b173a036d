/**
 * The host's functions, as globals that return promises. This module is loaded only for requests that have functions. Guest
 * code that patches built-ins afterwards affects its own promises, but not how calls are sent or answers are read.
 */
import { encodeValueToJson } from '../../core/values/encode-value.ts'
import {
  jsonString,
  stringIncludes,
  stringIndexOf,
  stringSlice,
  uncurryThis,
} from '../../core/primordials.ts'
import { readProperty, textOr } from '../../core/values/read-value.ts'
import { decodeTagged } from '../../core/values/decode-value.ts'
import {
  callBytesAtOnce,
  callsAtOnceMax,
  type GuestFunctions,
  type HostMessage,
} from '../channel/channel-protocol.ts'
import { findUnserializable } from '../../core/values/find-unserializable.ts'
import { listen } from './answers.ts'
import { send } from './channel.ts'
import { define } from './modules/define.ts'

interface Caller {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
  /** The place of the call in the guest's code. */
  readonly origin: { readonly stack?: string }
}

interface Call {
  readonly id: number
  readonly json: string
  readonly caller: Caller
  bytes: number
  /** The next call in the queue of unsent calls. */
  next: Call | undefined
}

const noAnswer = 'The host no longer answers.'

const NativePromise = Promise
/** The classes that take only a message. The object has no prototype, because the host chooses the names. */
const errorClasses = {
  __proto__: null,
  Error,
  EvalError,
  RangeError,
  ReferenceError,
  SyntaxError,
  TypeError,
  URIError,
} as unknown as Readonly<Partial<Record<string, ErrorConstructor>>>
const NativeError = Error
const { captureStackTrace } = Error
const parse = JSON.parse as (json: string) => unknown
const CallMap = Map<number, Call>
const mapGet = uncurryThis(CallMap.prototype.get)
const mapSet = uncurryThis(CallMap.prototype.set)
const mapDelete = uncurryThis(CallMap.prototype.delete)
const mapForEach = uncurryThis(CallMap.prototype.forEach)

/**
 * Defines a global for each function. The program may declare these names itself. Returns a function that rejects all
 * calls without an answer.
 */
export function createFunctions(
  { names, callsMax }: GuestFunctions,
  argumentBytesMax: number,
  listenForAnswers: typeof listen = listen,
): () => void {
  const calls = new Calls({ callsMax, argumentBytesMax, listen: listenForAnswers })
  for (const name of names) {
    // Bound functions do not reveal their source when they are printed.
    const call = calls.call.bind(calls, name)
    define(call, 'name', name)
    define(globalThis, name, call)
  }
  return () => calls.abandon()
}

interface CallsOptions {
  readonly callsMax: number
  readonly argumentBytesMax: number
  readonly listen: typeof listen
}

class Calls {
  readonly #callsMax: number
  readonly #argumentBytesMax: number
  #lastId = 0
  /** Calls without an answer, both sent and queued. */
  readonly #open = new CallMap()
  #openCount = 0
  #sentCount = 0
  #sentBytes = 0
  #firstQueued: Call | undefined
  #lastQueued: Call | undefined
  #isEnded = false
  #setWaiting: ((isWaiting: boolean) => void) | undefined

  readonly #listen: typeof listen

  constructor(options: CallsOptions) {
    this.#callsMax = options.callsMax
    this.#argumentBytesMax = options.argumentBytesMax
    this.#listen = options.listen
  }

  call(name: string, ...args: readonly unknown[]): Promise<unknown> {
    const encoded = this.#refuse() ?? this.#encode(name, args)
    const origin = captureOrigin()
    return new NativePromise((resolve, reject) => {
      if (typeof encoded === 'string') this.#begin(name, encoded, { resolve, reject, origin })
      else reject(encoded)
    })
  }

  #refuse(): Error | undefined {
    if (this.#isEnded) return createError('Error', noAnswer)
    if (this.#lastId < this.#callsMax) return undefined
    const message = `A run may call host functions ${this.#callsMax} times (functionCallsMax).`
    return createError('FunctionLimitError', message)
  }

  /** The arguments as JSON, or the error that says why they cannot be sent. */
  #encode(name: string, args: readonly unknown[]): string | Error {
    const { json, truncated } = encodeValueToJson(args, { maxBytes: this.#argumentBytesMax })
    if (truncated)
      return createError(
        'RangeError',
        `The arguments of '${name}' take more than ${this.#argumentBytesMax} bytes, or are nested too deeply.`,
      )
    const lost = findUnserializable(json)
    if (lost === undefined) return json
    const hint = lost === '[object Promise]' ? ' (write `await` before what made it)' : ''
    return createError('TypeError', `An argument of '${name}' cannot be sent to the host: ${lost}${hint}`)
  }

  #begin(name: string, args: string, caller: Caller): void {
    const id = ++this.#lastId
    const json = `{"type":"call","id":${id},"name":${jsonString(name)},"args":${args}}`
    const call: Call = { id, json, caller, bytes: 0, next: undefined }
    mapSet(this.#open, id, call)
    this.#openCount++
    this.#setWaiting ??= this.#listen({ onAnswer: (answer) => this.#take(answer), onEnd: () => this.#fail() })
    this.#setWaiting(true)
    if (this.#firstQueued === undefined && !this.#isFull()) this.#send(call)
    else if (this.#lastQueued === undefined) this.#firstQueued = this.#lastQueued = call
    else this.#lastQueued = this.#lastQueued.next = call
  }

  /** If more calls were sent, the host would stop reading, and the next write would block this thread. */
  #isFull(): boolean {
    return this.#sentCount >= callsAtOnceMax || this.#sentBytes >= callBytesAtOnce
  }

  #send(call: Call): void {
    call.bytes = send(call.json)
    this.#sentCount++
    this.#sentBytes += call.bytes
  }

  #take(json: string): void {
    const message = parse(json) as HostMessage
    const call = mapGet(this.#open, message.id)
    if (call === undefined) return
    this.#forget(call)
    this.#sentCount--
    this.#sentBytes -= call.bytes
    while (this.#firstQueued !== undefined && !this.#isFull()) {
      const next = this.#firstQueued
      this.#firstQueued = next.next
      if (this.#firstQueued === undefined) this.#lastQueued = undefined
      this.#send(next)
    }
    if (message.type === 'return') this.#resolve(call, message.value, json)
    else call.caller.reject(createError(message.error.name, message.error.message, call.caller.origin))
  }

  #resolve(call: Call, value: unknown, json: string): void {
    try {
      // Most values contain no tags and need no decoding.
      call.caller.resolve(stringIncludes(json, '"$type"') ? decodeTagged(value).value : value)
    } catch (thrown) {
      // Thrown by built-ins that guest code has changed, or because memory ran out.
      call.caller.reject(thrown)
    }
  }

  #forget(call: Call): void {
    mapDelete(this.#open, call.id)
    this.#openCount--
    if (this.#openCount === 0) this.#setWaiting?.(false)
  }

  #fail(): void {
    this.#isEnded = true
    this.abandon()
  }

  /** Rejects all open calls. */
  abandon(): void {
    this.#firstQueued = this.#lastQueued = undefined
    this.#sentCount = this.#sentBytes = 0
    mapForEach(this.#open, (call) => {
      this.#forget(call)
      call.caller.reject(createError('Error', noAnswer, call.caller.origin))
    })
  }
}

/** Guest code may have replaced `prepareStackTrace` with a function that throws. */
function captureOrigin(): { readonly stack?: string } {
  const origin = {}
  try {
    captureStackTrace(origin, captureOrigin)
  } catch {
    // Then the error has no position.
  }
  return origin
}

/** Creates an error of the guest's realm whose stack is that of the call. */
function createError(name: string, message: string, origin?: { readonly stack?: string }): Error {
  const BuiltIn = errorClasses[name]
  const error = new (BuiltIn ?? NativeError)(message)
  if (BuiltIn === undefined) define(error, 'name', name)
  if (origin !== undefined) defineStack(error, message === '' ? name : `${name}: ${message}`, origin)
  return error
}

function defineStack(error: Error, header: string, origin: { readonly stack?: string }): void {
  const frames = textOr(readProperty(origin, 'stack'), '')
  const start = stringIndexOf(frames, '\n    at ')
  try {
    define(error, 'stack', header + (start < 0 ? '' : stringSlice(frames, start)))
  } catch {
    // Bun first computes the error's own stack with the guest's `prepareStackTrace`, which may throw.
  }
}
