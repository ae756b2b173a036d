/**
 * One program in its isolate. It runs on this thread, so nothing here goes on meanwhile but what it calls; between its
 * calls of host functions this process waits for their answers. What it says is on its way to the host before it goes on.
 */
import { boundText } from '../../javascript/channel.ts'
import { readProgram } from '../program/read-program.ts'
import type { IsolateOutcome } from '../inside/protocol.ts'
import type { IsolateRequest } from '../protocol.ts'
import type { Hearer, Prepared } from './stock.ts'
import { send } from './wire.ts'

/** What the host answers to a call. */
export interface Answer {
  readonly type: 'return' | 'throw'
  readonly id: number
  readonly value?: unknown
  readonly error?: { readonly name: string; readonly message: string }
}

export class OneRun implements Hearer {
  readonly #request: IsolateRequest
  readonly #prepared: Prepared
  readonly #allowed: readonly string[]
  readonly #dueAt: number
  readonly #onOver: () => void
  #timer: NodeJS.Timeout | undefined
  #isOver = false

  constructor(
    request: IsolateRequest,
    { prepared, allowed }: { readonly prepared: Prepared; readonly allowed: readonly string[] },
    onOver: () => void,
  ) {
    this.#request = request
    this.#prepared = prepared
    this.#allowed = allowed
    this.#onOver = onOver
    this.#dueAt = performance.now() + request.isolate.wallMs
    prepared.hearer = this
  }

  start(): void {
    const { code, language, input, functions, resultBytes, isolate } = this.#request
    const { mode } = isolate
    const read = readProgram({ code, language: language as 'javascript' | 'typescript', mode })
    if ('error' in read) {
      sendError('syntax', read.error)
      this.#end(1)
      return
    }
    const program = {
      source: read.source,
      mode,
      calls: functions?.names ?? [],
      ...(functions !== undefined && { maxCalls: functions.callsMax }),
      ...(input !== undefined && { input: JSON.stringify(input) }),
      allowed: this.#allowed,
      maxBytes: resultBytes,
    }
    this.#step(() => this.#enter('start', [JSON.stringify(program)]))
  }

  /** The host has answered a call of the program's. */
  answer({ type, id, value, error }: Answer): void {
    if (this.#isOver) return
    const isError = type === 'throw'
    this.#step(() => this.#enter('answer', [id, isError, JSON.stringify(isError ? error : (value ?? null))]))
  }

  log(level: string, text: string): void {
    send(`{"type":"log","level":${JSON.stringify(level)},"text":${JSON.stringify(boundText(text))}}`)
  }

  call(id: number, name: string, json: string): void {
    send(`{"type":"call","id":${id},"name":${JSON.stringify(name)},"args":${json}}`)
  }

  /** Lets the program go on, and looks at how far it has come. */
  #step(enter: () => void): void {
    clearTimeout(this.#timer)
    try {
      enter()
      this.#judge(JSON.parse(String(this.#enter('outcome', []))) as IsolateOutcome)
    } catch (thrown) {
      this.#explain(thrown)
    }
  }

  #enter(name: 'start' | 'answer' | 'outcome', values: readonly unknown[]): unknown {
    const left = Math.ceil(this.#dueAt - performance.now())
    if (left <= 0) throw new Overdue()
    return this.#prepared.inside[name].applySync(undefined, [...values], { timeout: left })
  }

  /** Not the program's word: its own errors are outcomes. */
  #explain(thrown: unknown): void {
    if (performance.now() >= this.#dueAt - 1) this.#stop('wall')
    else if (this.#prepared.isolate.isDisposed) this.#stop('memory')
    else {
      const { name = 'Error', message = '' } = thrown as Partial<Error>
      sendError('run', { name: String(name), message: String(message) })
      this.#end(1)
    }
  }

  #judge(outcome: IsolateOutcome): void {
    if (outcome.state === 'pending') {
      if (outcome.calls > 0) {
        this.#timer = setTimeout(() => this.#stop('wall'), this.#dueAt - performance.now())
        return
      }
      sendError('run', { name: 'Error', message: 'The code waits for a promise that nothing can settle.' })
      this.#end(1)
      return
    }
    if (outcome.state === 'failed') {
      const { kind, error } = outcome
      if (kind === 'security') send(`{"type":"denied","what":${JSON.stringify(error.message)}}`)
      sendError(kind === 'syntax' ? 'syntax' : 'run', error)
      this.#end(1)
      return
    }
    const value = this.#request.isolate.mode === 'service' ? outcome.output : outcome.value
    if (value !== undefined) {
      const head = `{"type":"value","truncated":${outcome.truncated === true}`
      send(`${head},"text":"","value":${JSON.stringify(value)}}`)
    }
    this.#end(0)
  }

  #end(exitCode: number): void {
    const { isolate } = this.#prepared
    if (!isolate.isDisposed) {
      const cpuMs = Number(isolate.cpuTime) / 1e6
      const heap = isolate.getHeapStatisticsSync()
      const bytes = heap.used_heap_size + heap.externally_allocated_size
      send(`{"type":"used","memoryBytes":${bytes},"cpuMs":${cpuMs}}`)
    }
    send(`{"type":"end","exitCode":${exitCode}}`)
    this.#close()
  }

  #stop(by: 'wall' | 'memory'): void {
    send(`{"type":"stopped","by":"${by}"}`)
    this.#close()
  }

  #close(): void {
    this.#isOver = true
    clearTimeout(this.#timer)
    this.#prepared.hearer = undefined
    this.#onOver()
  }
}

class Overdue extends Error {}

function sendError(
  phase: 'syntax' | 'run',
  error: {
    readonly name: string
    readonly message: string
    readonly stack?: string
    readonly line?: number
    readonly column?: number
  },
): void {
  const { name, message, stack, line, column } = error
  const bounded = {
    name: boundText(name),
    message: boundText(message),
    ...(stack !== undefined && { stack: boundText(stack) }),
    line,
    column,
  }
  send(JSON.stringify({ type: 'error', phase, error: bounded }))
}
