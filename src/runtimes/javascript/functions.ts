/**
 * The host's functions, as globals that return promises. Loaded only for requests that have any. What guest code does
 * to built-ins afterwards changes what its own promises do, not how calls are sent or answers are read.
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

interface Caused {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
  /** The place of the call in the guest's code. */
  readonly origin: { readonly stack?: string }
}

interface Call {
  readonly id: number
  readonly json: string
  readonly by: Caused
  bytes: number
  /** The next one that waits to be sent. */
  next: Call | undefined
}

const gone = 'The host no longer answers.'

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
 * Defines a global for each function. The program may declare these names itself. The function that it returns drops
 * the calls that have no answer yet.
 */
export function createFunctions(
  { names, callsMax }: GuestFunctions,
  argumentBytesMax: number,
  hear: typeof listen = listen,
): () => void {
  const caller = new Caller({ callsMax, argumentBytesMax, hear })
  for (const name of names) {
    // Bound functions do not reveal their source when they are printed.
    const call = caller.call.bind(caller, name)
    define(call, 'name', name)
    define(globalThis, name, call)
  }
  return () => caller.abandon()
}

interface CallerParts {
  readonly callsMax: number
  readonly argumentBytesMax: number
  readonly hear: typeof listen
}

class Caller {
  readonly #callsMax: number
  readonly #argumentBytesMax: number
  #lastId = 0
  /** Sent or waiting, until they are answered. */
  readonly #calls = new CallMap()
  #callCount = 0
  #sentCount = 0
  #sentBytes = 0
  #firstWaiting: Call | undefined
  #lastWaiting: Call | undefined
  #isEnded = false
  #setWaiting: ((isWaiting: boolean) => void) | undefined

  readonly #hear: typeof listen

  constructor({ callsMax, argumentBytesMax, hear }: CallerParts) {
    this.#callsMax = callsMax
    this.#argumentBytesMax = argumentBytesMax
    this.#hear = hear
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
    if (this.#isEnded) return createError('Error', gone)
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

  #begin(name: string, args: string, by: Caused): void {
    const id = ++this.#lastId
    const json = `{"type":"call","id":${id},"name":${jsonString(name)},"args":${args}}`
    const call: Call = { id, json, by, bytes: 0, next: undefined }
    mapSet(this.#calls, id, call)
    this.#callCount++
    this.#setWaiting ??= this.#hear({ onAnswer: (answer) => this.#take(answer), onEnd: () => this.#fail() })
    this.#setWaiting(true)
    if (this.#firstWaiting === undefined && !this.#isFull()) this.#send(call)
    else if (this.#lastWaiting === undefined) this.#firstWaiting = this.#lastWaiting = call
    else this.#lastWaiting = this.#lastWaiting.next = call
  }

  /** Sending more would make the host stop reading, and this thread wait inside its own call. */
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
    const call = mapGet(this.#calls, message.id)
    if (call === undefined) return
    this.#forget(call)
    this.#sentCount--
    this.#sentBytes -= call.bytes
    while (this.#firstWaiting !== undefined && !this.#isFull()) {
      const next = this.#firstWaiting
      this.#firstWaiting = next.next
      if (this.#firstWaiting === undefined) this.#lastWaiting = undefined
      this.#send(next)
    }
    if (message.type === 'return') this.#resolve(call, message.value, json)
    else call.by.reject(createError(message.error.name, message.error.message, call.by.origin))
  }

  #resolve(call: Call, value: unknown, json: string): void {
    try {
      // Most values hold no tag, and stay unchanged.
      call.by.resolve(stringIncludes(json, '"$type"') ? decodeTagged(value).value : value)
    } catch (thrown) {
      // Thrown by built-ins that guest code has changed, or because memory ran out.
      call.by.reject(thrown)
    }
  }

  #forget(call: Call): void {
    mapDelete(this.#calls, call.id)
    this.#callCount--
    if (this.#callCount === 0) this.#setWaiting?.(false)
  }

  #fail(): void {
    this.#isEnded = true
    this.abandon()
  }

  /** Open calls will not be answered. */
  abandon(): void {
    this.#firstWaiting = this.#lastWaiting = undefined
    this.#sentCount = this.#sentBytes = 0
    mapForEach(this.#calls, (call) => {
      this.#forget(call)
      call.by.reject(createError('Error', gone, call.by.origin))
    })
  }
}

/** Guest code may have its own idea of stacks, and that may throw. */
function captureOrigin(): { readonly stack?: string } {
  const origin = {}
  try {
    captureStackTrace(origin, captureOrigin)
  } catch {
    // Then the error names no place.
  }
  return origin
}

/** An error of the guest's realm, at the place of the call. */
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
    // Bun makes the error's own stack first, with the guest's idea of one.
  }
}
