/**
 * The host's functions, as functions that return promises. Patches of guest code to built-ins affect neither calls nor
 * answers.
 */
import { decodeTagged } from '../../../core/values/decode-value.ts'
import { encodeValueToJson } from '../../../core/values/encode-value.ts'
import { findUnserializable } from '../../../core/values/find-unserializable.ts'
import { defineProperty, messageOf, stringIncludes, uncurryThis } from '../../../core/primordials.ts'
import { applyToJson } from '../../javascript/bare/to-json.ts'
import { define } from '../../javascript/modules/define.ts'
import { NotPlain, toPlainJson } from './plain-json.ts'
import type { IsolateProgram, Outside } from './protocol.ts'

interface Call {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

const argumentBytesMax = 16 * 1024 * 1024

const NativePromise = Promise
const NativeError = Error
const NativeTypeError = TypeError
const CallMap = Map<number, Call>
const callGet = uncurryThis(CallMap.prototype.get)
const callSet = uncurryThis(CallMap.prototype.set)
const callDelete = uncurryThis(CallMap.prototype.delete)
const parse = JSON.parse as (json: string) => unknown
const { freeze } = Object

export class HostCalls {
  readonly #outside: Outside
  readonly #calls = new CallMap()
  #lastId = 0
  readonly #isTagged: boolean
  readonly #callsMax: number | undefined

  /** Defines the functions for the program. */
  constructor(outside: Outside, { mode, calls, maxCalls }: IsolateProgram) {
    this.#outside = outside
    this.#isTagged = mode === 'run'
    this.#callsMax = maxCalls
    const owner = this.#isTagged ? globalThis : {}
    for (const name of calls) {
      const call = (...values: unknown[]): Promise<unknown> => this.#call(name, values)
      defineProperty(call, 'name', { __proto__: null, value: name } as PropertyDescriptor)
      define(owner, name, freeze(call))
    }
    if (!this.#isTagged) define(globalThis, 'bridge', freeze(owner))
  }

  answer(id: number, isError: boolean, json: string): void {
    const call = callGet(this.#calls, id)
    if (call === undefined) return
    callDelete(this.#calls, id)
    try {
      const value = parse(json)
      if (isError) call.reject(createError(value as { name: string; message: string }))
      else call.resolve(this.#isTagged && stringIncludes(json, '"$type"') ? decodeTagged(value).value : value)
    } catch (thrown) {
      // Thrown by built-ins that guest code has changed, or because memory ran out.
      call.reject(thrown)
    }
  }

  #call(name: string, values: readonly unknown[]): Promise<unknown> {
    return new NativePromise((resolve, reject) => {
      const json = this.#encode(name, values)
      if (this.#callsMax !== undefined && this.#lastId >= this.#callsMax) {
        const message = `A run may call host functions ${this.#callsMax} times.`
        throw createError({ name: 'FunctionLimitError', message })
      }
      const id = ++this.#lastId
      this.#outside.call(id, name, json)
      callSet(this.#calls, id, { resolve, reject })
    })
  }

  /** Encodes the arguments as a JSON list. Throws the reason if they cannot be sent. */
  #encode(name: string, values: readonly unknown[]): string {
    if (!this.#isTagged) return plainArguments(name, values)
    const { json, truncated } = encodeValueToJson(values, {
      maxBytes: argumentBytesMax,
      replace: applyToJson,
    })
    const lost = findUnserializable(json)
    if (lost === undefined && !truncated) return json
    const reason = lost ?? `it takes more than ${argumentBytesMax} bytes`
    throw new NativeTypeError(`An argument of '${name}' cannot be sent to the host: ${reason}`)
  }
}

function plainArguments(name: string, values: readonly unknown[]): string {
  try {
    let list = ''
    for (let index = 0; index < values.length; index++) {
      const root = index === 0 ? 'the argument' : `argument ${index + 1}`
      list += `${index === 0 ? '' : ','}${toPlainJson(values[index], root, argumentBytesMax) ?? 'null'}`
    }
    return `[${list}]`
  } catch (thrown) {
    const reason = NotPlain.is(thrown) ? thrown.message : messageOf(thrown)
    throw new NativeTypeError(`'${name}' cannot be called: ${reason}`)
  }
}

function createError({ name, message }: { readonly name: string; readonly message: string }): Error {
  const error = new NativeError(`${message}`)
  if (name !== 'Error') define(error, 'name', `${name}`)
  return error
}
