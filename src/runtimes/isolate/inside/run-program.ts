/** Runs the program, from its start to its outcome. Works correctly even if the program patches built-ins. */
import { defineProperty, jsonString, messageOf, stringSlice, uncurryThis } from '../../../core/primordials.ts'
import { isError, readProperty, textOr } from '../../../core/values/read-value.ts'
import { show } from '../../javascript/bare/shown.ts'
import { define } from '../../javascript/modules/define.ts'
import { isRefusedAllocation, wasRefusedAllocation } from './allocations.ts'
import { createAsyncFunction, evaluateScript } from './code-makers.ts'
import { ownFrames, programName, setOffset } from './places.ts'
import { NotPlain, toPlainJson } from './plain-json.ts'
import type { Failure, FailureKind, IsolateProgram, Outside } from './protocol.ts'
import { isSecurityError, wasRaised } from './security.ts'
import type { ValuesPart } from './values-part.ts'

const bytesMaxDefault = 16 * 1024 * 1024
const textMax = 64 * 1024
/**
 * Runs before the program: removes the last argument, and calls it with a function that reads the variable `output`.
 */
const passReader = '[].pop.call(arguments)(()=>output);'
/** The lines that the engine adds before a function's body. */
const headLines = 2

const NativePromise = Promise
const NativeSyntaxError = SyntaxError
const then = uncurryThis(Promise.prototype.then) as (
  promise: Promise<unknown>,
  onDone: (value: unknown) => void,
  onFailed: (reason: unknown) => void,
) => unknown
const parse = JSON.parse as (json: string) => unknown

export class Running {
  #hasFailed = false
  readonly mode: IsolateProgram['mode']
  readonly #bytesMax: number
  readonly #settle: Outside['settle']
  readonly #values: ValuesPart | undefined

  constructor(program: IsolateProgram, settle: Outside['settle'], values: ValuesPart | undefined) {
    const { mode, maxBytes = bytesMaxDefault } = program
    this.mode = mode
    this.#bytesMax = maxBytes
    this.#settle = settle
    this.#values = values
  }

  startService({ source, input }: IsolateProgram): void {
    setOffset({ lines: headLines, columns: passReader.length })
    let main: (...values: unknown[]) => unknown
    try {
      main = createAsyncFunction(
        'input,output',
        `${passReader}${withoutHashbang(source)}\n//# sourceURL=${programName}`,
      )
    } catch (thrown) {
      return this.#fail('syntax', syntaxFailure(thrown))
    }
    let readOutput: (() => unknown) | undefined
    const value = input === undefined ? undefined : parse(input)
    const promise = main(value, undefined, (read: () => unknown) => {
      readOutput ??= read
    }) as Promise<unknown>
    this.#watch(promise, () => this.#completeOutput(readOutput?.()))
  }

  startRun({ source, input }: IsolateProgram): void {
    define(
      globalThis,
      'input',
      input === undefined ? undefined : this.#values?.decodeTagged(parse(input)).value,
    )
    let value: unknown
    try {
      value = evaluateScript(`${source}\n//# sourceURL=${programName}`)
    } catch (thrown) {
      return this.#failWith(thrown)
    }
    if ((typeof value !== 'object' && typeof value !== 'function') || value === null)
      return this.#completeValue(value)
    this.#watch(new NativePromise((resolve) => resolve(value)), (result) => this.#completeValue(result))
  }

  unhandled(failure: Failure): void {
    if (this.#hasFailed) return
    const { message, stack } = failure
    const isSecurity = wasRaised(message)
    // A copied error has lost its `name`.
    const name = isSecurity ? 'SecurityError' : failure.name
    const other = wasRefusedAllocation(message) ? 'memory' : 'runtime'
    this.#fail(isSecurity ? 'security' : other, {
      name,
      message,
      ...(stack ? { stack: ownFrames(stack) } : {}),
    })
  }

  /** Hides `constructor`, through which `then` would call code of the program to create the derived promise. */
  #watch(promise: Promise<unknown>, onDone: (value: unknown) => void): void {
    void defineProperty(promise, 'constructor', { __proto__: null, value: undefined } as PropertyDescriptor)
    then(promise, onDone, (reason) => this.#failWith(reason))
  }

  #completeOutput(output: unknown): void {
    let json: string | undefined
    try {
      json = toPlainJson(output, 'output', this.#bytesMax)
    } catch (thrown) {
      const message = NotPlain.is(thrown) ? thrown.message : `output cannot be read: ${messageOf(thrown)}`
      return this.#fail('runtime', { name: 'TypeError', message })
    }
    this.#settle(`{"state":"completed"${json === undefined ? '' : `,"output":${json}`}}`)
  }

  #completeValue(value: unknown): void {
    const encoded = this.#values?.encodeValueToJson(value, { maxBytes: this.#bytesMax })
    const isCut = encoded?.truncated === true
    this.#settle(`{"state":"completed","value":${encoded?.json}${isCut ? ',"truncated":true' : ''}}`)
  }

  #failWith(thrown: unknown): void {
    // Must come first, because `kindOf` needs the stack to have been read.
    const failure = describe(thrown)
    this.#fail(kindOf(thrown), failure)
  }

  #fail(kind: FailureKind, { name, message, stack }: Failure): void {
    this.#hasFailed = true
    const shown = stack === undefined ? '' : `,"stack":${shortJson(stack)}`
    const error = `{"name":${shortJson(name)},"message":${shortJson(message)}${shown}}`
    this.#settle(`{"state":"failed","kind":"${kind}","error":${error}}`)
  }
}

function kindOf(thrown: unknown): FailureKind {
  if (isSecurityError(thrown)) return 'security'
  return isRefusedAllocation(thrown) ? 'memory' : 'runtime'
}

/** `#!` is allowed only at the very start of a file, and a prefix is added before it. */
const withoutHashbang = (text: string): string =>
  stringSlice(text, 0, 2) === '#!' ? `//${stringSlice(text, 2)}` : text

const shortJson = (text: string): string => jsonString(stringSlice(text, 0, textMax))

function syntaxFailure(thrown: unknown): Failure {
  const message = messageOf(thrown)
  // Any other error is a stack overflow in the parser.
  if (!(thrown instanceof NativeSyntaxError))
    return { name: 'SyntaxError', message: 'The code is nested too deeply.' }
  const hint = hints[message]
  return { name: 'SyntaxError', message: hint === undefined ? message : `${message}: ${hint}` }
}

const hints: Readonly<Partial<Record<string, string>>> = {
  __proto__: null,
  "Identifier 'output' has already been declared":
    'assign to it without const, let or class, as in `output = …`',
  "Identifier 'input' has already been declared": 'it holds the input data; use another name',
} as unknown as Readonly<Partial<Record<string, string>>>

function describe(thrown: unknown): Failure {
  if (typeof thrown !== 'object' || thrown === null)
    return { name: 'Uncaught', message: typeof thrown === 'string' ? thrown : show(thrown) }
  const message = readProperty(thrown, 'message')
  if (!isError(thrown)) return { name: 'Uncaught', message: textOr(message, '') || show(thrown) }
  const stack = readProperty(thrown, 'stack')
  return {
    name: textOr(readProperty(thrown, 'name'), 'Error'),
    message: textOr(message, ''),
    ...(typeof stack === 'string' ? { stack } : {}),
  }
}
