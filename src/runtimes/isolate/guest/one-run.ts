/**
 * One program in its isolate. It runs on this thread, so nothing else runs here at the same time except the callbacks that
 * it calls. While the program awaits host functions, this process waits for their answers. Each message of the program is
 * written to the channel before the program continues.
 */
import type { Isolate } from 'isolated-vm'
import { inspect } from 'node:util'
import { systemClock } from '../../../core/clock.ts'
import { decodeValue } from '../../../core/values/values.ts'
import { boundText } from '../../javascript/channel.ts'
import { readAsWritten, readProgram } from '../program/read-program.ts'
import type { Inside, IsolateOutcome } from '../inside/protocol.ts'
import type { IsolateRequest } from '../protocol.ts'
import { placeError } from './place-error.ts'
import type { PlacedError, RunText } from './place-error.ts'
import type { ProgramListener, Prepared } from './stock.ts'
import { send } from './wire.ts'

/** The host's answer to a call. */
export interface Answer {
  readonly type: 'return' | 'throw'
  readonly id: number
  readonly value?: unknown
  readonly error?: { readonly name: string; readonly message: string }
}

export interface OneRunParts {
  readonly prepared: Prepared
  /** The libraries that the program may require. */
  readonly allowed: readonly string[]
  /** The number of isolates of this kind that are ready for other programs. */
  readonly ready: number
}

export class OneRun implements ProgramListener {
  readonly #request: IsolateRequest
  readonly #prepared: Prepared
  readonly #allowed: readonly string[]
  readonly #ready: number
  readonly #dueAt: number
  #text: RunText | undefined
  #outcome: IsolateOutcome | undefined
  /** Calls of host functions that the host has not answered. */
  #openCalls = 0
  readonly #onOver: () => void
  #stopWaiting: () => void = () => undefined
  #isOver = false

  constructor(request: IsolateRequest, { prepared, allowed, ready }: OneRunParts, onOver: () => void) {
    this.#request = request
    this.#prepared = prepared
    this.#allowed = allowed
    this.#ready = ready
    this.#onOver = onOver
    this.#dueAt = systemClock.now() + request.isolate.wallMs
    prepared.listener = this
  }

  async start(): Promise<void> {
    const { code, language, input, functions, resultBytes, isolate } = this.#request
    const { mode } = isolate
    const written = { code, language: language === 'typescript' ? language : 'javascript', mode } as const
    const read =
      readAsWritten(written) ?? (await readProgram(written).catch((thrown: unknown) => describe(thrown)))
    if (!('source' in read)) {
      this.#end(1, writeError('syntax', read))
      return
    }
    this.#text = read
    const program = {
      source: read.source,
      mode,
      calls: functions?.names ?? [],
      ...(functions !== undefined && { maxCalls: functions.callsMax }),
      ...(input !== undefined && { input: this.#toJson(input) }),
      allowed: this.#allowed,
      maxBytes: resultBytes,
    }
    this.#step(() => this.#enter('start', [JSON.stringify(program)]))
  }

  /** The host has answered one of the program's calls. */
  answer({ type, id, value, error }: Answer): void {
    if (this.#isOver) return
    this.#openCalls -= 1
    const isError = type === 'throw'
    const json = isError ? JSON.stringify(error) : this.#toJson(value ?? null)
    this.#step(() => this.#enter('answer', [id, isError, json]))
  }

  /** In mode `service` the host sends JSON as a string. */
  #toJson(value: unknown): string {
    return this.#request.isolate.mode === 'service' && typeof value === 'string'
      ? value
      : JSON.stringify(value)
  }

  log(level: string, text: string): void {
    send(`{"type":"log","level":${JSON.stringify(level)},"text":${JSON.stringify(boundText(text))}}`)
  }

  call(id: number, name: string, json: string): void {
    const values = this.#request.isolate.mode === 'service' ? JSON.stringify([json]) : json
    this.#openCalls += 1
    send(`{"type":"call","id":${id},"name":${JSON.stringify(name)},"args":${values}}`)
  }

  settle(json: string): void {
    this.#outcome = JSON.parse(json) as IsolateOutcome
  }

  /** Lets the program continue, then checks whether it has an outcome. */
  #step(enter: () => void): void {
    this.#stopWaiting()
    try {
      this.#enterSafely(enter)
      this.#checkOutcome()
    } catch (thrown) {
      if (systemClock.now() >= this.#dueAt - 1) this.#stop('wall')
      else if (this.#prepared.isolate.isDisposed) this.#stop('memory')
      else this.#end(1, writeError('run', describe(thrown)))
    }
  }

  /** A call that throws reports an unhandled rejection. The program's other errors are outcomes. */
  #enterSafely(enter: () => void): void {
    try {
      enter()
    } catch (thrown) {
      if (systemClock.now() >= this.#dueAt - 1 || this.#prepared.isolate.isDisposed) throw thrown
      const { name, message, stack = '' } = describe(thrown)
      this.#enter('unhandled', [name, message, stack])
    }
  }

  #enter(name: keyof Inside, values: readonly unknown[]): void {
    const left = Math.ceil(this.#dueAt - systemClock.now())
    if (left <= 0) throw new Overdue()
    this.#prepared.entry(name).applySync(undefined, [...values], { timeout: left })
  }

  #checkOutcome(): void {
    const outcome = this.#outcome
    if (outcome === undefined) {
      if (this.#openCalls > 0) {
        this.#stopWaiting = systemClock.after(this.#dueAt - systemClock.now(), () => this.#stop('wall'))
        return
      }
      const message = 'The code awaits a promise that can no longer settle.'
      this.#end(1, writeError('run', { name: 'Error', message }))
      return
    }
    if (outcome.state === 'failed') {
      const { kind, error } = outcome
      if (kind === 'memory') {
        this.#stop('memory')
        return
      }
      const denied = kind === 'security' ? [`{"type":"denied","what":${JSON.stringify(error.message)}}`] : []
      const placed = this.#text === undefined ? error : placeError(error, kind, this.#text)
      this.#end(1, ...denied, writeError(kind === 'syntax' ? 'syntax' : 'run', placed))
      return
    }
    const isService = this.#request.isolate.mode === 'service'
    const value = isService ? outcome.output : outcome.value
    const text = isService ? '' : boundText(inspect(decodeValue(value)))
    const head = `{"type":"value","truncated":${outcome.truncated === true}`
    if (value === undefined) this.#end(0)
    else this.#end(0, `${head},"text":${JSON.stringify(text)},"value":${JSON.stringify(value)}}`)
  }

  #end(exitCode: number, ...messages: readonly string[]): void {
    const { isolate } = this.#prepared
    const used = isolate.isDisposed ? [] : [writeUse(isolate, this.#ready)]
    send(...messages, ...used, `{"type":"end","exitCode":${exitCode}}`)
    this.#close()
  }

  #stop(by: 'wall' | 'memory'): void {
    send(`{"type":"stopped","by":"${by}"}`)
    this.#close()
  }

  #close(): void {
    this.#isOver = true
    this.#stopWaiting()
    this.#prepared.listener = undefined
    this.#onOver()
  }
}

class Overdue extends Error {}

/** An error of the isolate arrives here as a copy. */
function describe(thrown: unknown): {
  readonly name: string
  readonly message: string
  readonly stack?: string
} {
  if (!(thrown instanceof Error)) return { name: 'Error', message: String(thrown) }
  const { name, message, stack } = thrown
  return { name, message, ...(stack !== undefined && { stack }) }
}

function writeUse(isolate: Isolate, ready: number): string {
  const { used_heap_size: heap, externally_allocated_size: outside } = isolate.getHeapStatisticsSync()
  const cpuMs = Number(isolate.cpuTime) / 1e6
  return `{"type":"used","memoryBytes":${heap + outside},"cpuMs":${cpuMs},"ready":${ready}}`
}

function writeError(phase: 'syntax' | 'run', error: PlacedError): string {
  const { name, message, stack, line, column } = error
  const bounded = {
    name: boundText(name),
    message: boundText(message),
    ...(stack !== undefined && { stack: boundText(stack) }),
    line,
    column,
  }
  return JSON.stringify({ type: 'error', phase, error: bounded })
}
