/** A code context in JavaScript or TypeScript: many entries in turn, in the same global scope. */
import { AsyncLocalStorage } from 'node:async_hooks'

import { utf8 } from '../../../core/primordials.ts'
import { encodeValueToJson } from '../../../core/values/encode-value.ts'
import type { AnswerListener } from '../answers.ts'
import { boundText, send, sendEnd, sendError, sendValue } from '../channel.ts'
import { createPrint, installConsole } from '../console/console.ts'
import { writeAll } from '../console/output.ts'
import { define } from '../modules/define.ts'
import { CompileError, reportError, reportSyntaxError } from '../errors.ts'
import { listen } from '../failures.ts'
import { createFunctions } from '../functions.ts'
import { installGlobals } from '../realm/globals.ts'
import { inspectValue } from '../console/inspect.ts'
import { entryUrl, findPosition, type MapPosition, positionAt, setCodeName } from '../modules/positions.ts'
import { installStackTraces } from '../modules/stack.ts'
import { Displays } from './displays.ts'
import type { DisplayOptions } from './displays.ts'
import { Evaluator, type Evaluated } from './evaluator.ts'
import { createImporter } from './importer.ts'
import type { ContextRequest, CompleteRequest, EntryRequest } from './protocol.ts'
import { completeFrom } from './complete.ts'
import { importsName, rewriteEntry } from './rewrite.ts'

const soon = setImmediate
const createFunction = Function
const stderr = 2
const interruptedExitCode = 130
/** The number of entries for which stacks show positions as written. */
const mapsMax = 1000
/** An entry such as `{ a: 1 }` would parse as a block; it is evaluated as an object instead. */
const objectStart = /^\s*\{/

export class Context {
  readonly #request: ContextRequest
  readonly #running: Int32Array
  readonly #evaluator = new Evaluator()
  readonly #maps = new Map<number, MapPosition>()
  /** The number of the entry to which the running code belongs, however late it runs. */
  readonly #origin = new AsyncLocalStorage<number>()
  /** The earlier entries whose output or errors have arrived since the last one began. */
  readonly #late = new Set<number>()
  #displays: Displays
  #answers: AnswerListener | undefined
  #abandonCalls: () => void = () => undefined
  #entry = 0
  #code = ''
  /** Whether an uncaught error has reached the top of the entry that runs. */
  #hasFailed = false

  constructor(request: ContextRequest, running: Int32Array) {
    this.#request = request
    this.#running = running
    this.#displays = new Displays(request.resultBytes)
  }

  /** Throws if its folder does not exist. */
  open(): void {
    const { context: language, folder, functions, resultBytes } = this.#request
    process.chdir(folder)
    installStackTraces((position, entry = 0) => this.#maps.get(entry)?.(position) ?? position)
    installGlobals({ language, code: '', args: [], resultBytes }, undefined)
    Reflect.deleteProperty(globalThis, 'input')
    const print = createPrint()
    installConsole((level, text) => {
      this.#tellLate()
      print(level, text)
    })
    define(globalThis, importsName, createImporter())
    define(globalThis, 'display', (value: unknown, options?: DisplayOptions) => {
      this.#tellLate()
      return this.#displays.show(value, options)
    })
    define(globalThis, 'clearOutput', (options?: { readonly wait?: boolean }) =>
      this.#displays.clear(options),
    )
    if (functions !== undefined) this.#install(functions.names)
    // An uncaught error does not end the context: it is reported, and the state stays.
    listen('uncaughtException', (thrown) => this.#tellUncaught(thrown))
    listen('unhandledRejection', (reason) => this.#tellUncaught(reason))
    // An interruption ends the programs that the context has started, but not the context.
    listen('SIGINT', () => undefined)
  }

  /** Handles a message from the host, which the reader thread has read. */
  take(json: string): void {
    const message = JSON.parse(json) as
      | EntryRequest
      | CompleteRequest
      | { readonly interrupted: number }
      | { readonly type: string }
    if ('code' in message) this.#run(message)
    else if ('complete' in message) this.#complete(message)
    else if ('interrupted' in message) this.#finishInterrupted(message.interrupted)
    else this.#answers?.onAnswer(json)
  }

  #install(names: readonly string[]): void {
    // The host counts the calls of each entry.
    const functions = { names, callsMax: Number.MAX_SAFE_INTEGER }
    this.#abandonCalls = createFunctions(functions, this.#request.resultBytes, (listener) => {
      this.#answers = listener
      return () => undefined
    })
  }

  #complete({ entry, complete }: CompleteRequest): void {
    Atomics.store(this.#running, 0, entry)
    const matches = completeFrom(complete, (path) => this.#evaluator.listNames(path))
    sendValue(JSON.stringify(matches), '', false)
    this.#end(entry, 0)
  }

  #run({ entry, code, variables }: EntryRequest): void {
    this.#abandonCalls()
    for (const [name, value] of Object.entries(variables)) {
      if (value === null) Reflect.deleteProperty(process.env, name)
      else process.env[name] = value
    }
    this.#entry = entry
    this.#code = code
    this.#hasFailed = false
    this.#late.clear()
    this.#displays = new Displays(this.#request.resultBytes)
    setCodeName(`<code ${entry}>`)
    Atomics.store(this.#running, 0, entry)
    void this.#compile(code).then(
      (text) => this.#evaluate(entry, text),
      (thrown: unknown) => {
        if (thrown instanceof CompileError) reportSyntaxError(code, thrown)
        else reportError(code, thrown)
        this.#end(entry, 1)
      },
    )
  }

  async #compile(code: string): Promise<string> {
    const written = this.#request.context === 'typescript' ? await compileTypeScript(code) : asWritten(code)
    const { text, toBefore } = rewriteEntry(
      written.text.startsWith('#!') ? `//${written.text.slice(2)}` : written.text,
    )
    this.#maps.set(this.#entry, (position) => written.toWritten(toBefore(position)))
    if (this.#maps.size > mapsMax)
      for (const first of [...this.#maps.keys()].slice(0, 1)) this.#maps.delete(first)
    const body = objectStart.test(text) && isExpression(text) ? `(${text}\n)` : text
    return `${body}\n//# sourceURL=${entryUrl(this.#entry)}`
  }

  #evaluate(entry: number, text: string): void {
    this.#origin.run(entry, () =>
      this.#evaluator.evaluate(text, (evaluated) => {
        if (this.#isRunning(entry)) void this.#finish(entry, evaluated)
      }),
    )
  }

  #isRunning(entry: number): boolean {
    return Atomics.load(this.#running, 0) === entry
  }

  async #finish(entry: number, evaluated: Evaluated): Promise<void> {
    switch (evaluated.kind) {
      case 'interrupted':
        return this.#finishInterrupted(entry)
      case 'thrown':
        this.#tellThrown(evaluated)
        return this.#end(entry, 1)
      case 'value':
        try {
          // As a run does: a last statement such as `main()` is over when its promise is settled.
          const value = await evaluated.value
          if (!this.#isRunning(entry)) return
          await this.#tellValue(value)
          return this.#end(entry, 0)
        } catch (thrown) {
          if (!this.#isRunning(entry)) return this.#tellUncaught(thrown)
          reportError(this.#code, thrown)
          return this.#end(entry, 1)
        }
    }
  }

  #tellThrown({ thrown, at }: Evaluated & { readonly kind: 'thrown' }): void {
    if (!(thrown instanceof SyntaxError) || hasRun(thrown)) return reportError(this.#code, thrown)
    const place = this.#maps.get(this.#entry)?.(at) ?? at
    const end = positionAt(this.#code, this.#code.length)
    const isPastEnd = place.line > end.line || (place.line === end.line && place.column > end.column)
    reportSyntaxError(this.#code, new CompileError(thrown.name, thrown.message, isPastEnd ? end : place))
  }

  async #tellValue(value: unknown): Promise<void> {
    if (value === undefined) return
    await this.#displays.showRich(value)
    const { json, truncated } = encodeValueToJson(value, { maxBytes: this.#request.resultBytes })
    sendValue(json, inspectValue(value), truncated)
  }

  /** An uncaught error ends its entry, as it ends a run. After the end of its entry it is only printed. */
  #tellUncaught(thrown: unknown): void {
    const entry = this.#origin.getStore() ?? this.#entry
    if (this.#isRunning(entry)) {
      this.#hasFailed = true
      reportError(this.#code, thrown)
      return this.#end(entry, 1)
    }
    this.#tellLate()
    writeAll(
      stderr,
      utf8(boundText(`Uncaught in <code ${entry}>, which had ended:\n${inspectValue(thrown)}\n`)),
    )
  }

  /** Tells the host that what follows is from an earlier entry. */
  #tellLate(): void {
    const entry = this.#origin.getStore()
    if (entry === undefined || this.#isRunning(entry) || this.#late.has(entry)) return
    this.#late.add(entry)
    send(`{"type":"late","entry":${entry}}`)
  }

  /** Does nothing if the entry has already ended. */
  #finishInterrupted(entry: number): void {
    if (!this.#isRunning(entry)) return
    this.#evaluator.forget()
    sendError('run', { name: 'Interrupted', message: 'The code was interrupted.' })
    this.#end(entry, interruptedExitCode)
  }

  /** Waits for the next turn of the event loop, so that unhandled rejections are reported before the end. */
  #end(entry: number, exitCode: number): void {
    soon(() => {
      if (Atomics.compareExchange(this.#running, 0, entry, 0) === entry)
        sendEnd(exitCode === 0 && this.#hasFailed ? 1 : exitCode)
    })
  }
}

/** Tells the host why a context could not start. */
export function refuse(thrown: unknown): void {
  const message = thrown instanceof Error ? thrown.message : String(thrown)
  sendError('run', { name: 'Error', message })
  send('{"type":"end","exitCode":1}')
}

async function compileTypeScript(
  code: string,
): Promise<{ readonly text: string; readonly toWritten: MapPosition }> {
  const typescript = await import('../modules/typescript.ts')
  return typescript.compileTypeScript(code, { keepsImports: true })
}

/** The stack of an error of the compiler holds no position in the guest's code. */
function hasRun({ stack }: SyntaxError): boolean {
  return typeof stack === 'string' && findPosition(stack, 0) !== undefined
}

const asWritten = (code: string): { readonly text: string; readonly toWritten: MapPosition } => ({
  text: code,
  toWritten: (position) => position,
})

function isExpression(text: string): boolean {
  try {
    createFunction(`return async () => (${text}\n)`)
    return true
  } catch {
    return false
  }
}
