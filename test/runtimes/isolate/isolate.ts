/** Programs in real isolates, as the Node process of a cell would run them, in the process of the test. */
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type * as isolatedVm from 'isolated-vm'
import type { Inside, IsolateOutcome, IsolateProgram } from '../../../src/runtimes/isolate/inside/protocol.ts'
import { checkoutRoot } from '../../support/checkout.ts'

export const ivm = createRequire(import.meta.url)('isolated-vm') as typeof isolatedVm
export const insideText = readFileSync(join(checkoutRoot, 'dist/harness-isolate/inside.js'), 'utf8')
export const libraries = ['lodash', 'date-fns', 'mathjs', 'papaparse', 'jstat', 'uuid', 'validator']

export type HostFunction = (...values: unknown[]) => unknown

export interface IsolateRun {
  readonly source: string
  readonly mode?: IsolateProgram['mode']
  readonly input?: unknown
  /** JSON in the place of `input`. */
  readonly inputJson?: string
  readonly functions?: Readonly<Record<string, HostFunction>>
  readonly maxCalls?: number
  readonly maxBytes?: number
  readonly load?: readonly string[]
  readonly libraries?: Readonly<Record<string, string>>
  readonly timeoutMs?: number
  /** Of the text that is evaluated: what tests look at from inside. */
  readonly wrapInside?: (text: string) => string
}

export type Ended = IsolateOutcome & { readonly logs: readonly string[] }

export async function runIsolate(run: IsolateRun): Promise<Ended> {
  const isolate = new ivm.Isolate({ memoryLimit: 64 })
  try {
    return await new Conversation(isolate, run).run()
  } finally {
    isolate.dispose()
  }
}

/** Parts of the inside have names that no library can have. */
export function librarySource(name: string): string | undefined {
  if (name.startsWith('lazaret:'))
    return readFileSync(
      join(checkoutRoot, `dist/harness-isolate/${name.slice('lazaret:'.length)}.js`),
      'utf8',
    )
  const path = join(checkoutRoot, 'dist/libraries', `${name}.js`)
  return libraries.includes(name) && existsSync(path) ? readFileSync(path, 'utf8') : undefined
}

export const randomText = (bytes: number): string => randomBytes(bytes).toString('latin1')

class Conversation {
  readonly #logs: string[] = []
  readonly #run: IsolateRun
  readonly #inside: isolatedVm.Reference<Inside>
  #waiting: Promise<void>[] = []

  constructor(isolate: isolatedVm.Isolate, run: IsolateRun) {
    this.#run = run
    const text = run.wrapInside?.(insideText) ?? insideText
    this.#inside = isolate
      .createContextSync()
      .evalClosureSync(
        `return (${text})($0, $1, $2, $3)`,
        [
          new ivm.Callback((_level: string, line: string) => void this.#logs.push(line)),
          new ivm.Callback((id: number, name: string, json: string) => this.#answerLater(id, name, json)),
          new ivm.Callback(randomText),
          new ivm.Callback((name: string) => run.libraries?.[name] ?? librarySource(name)),
        ],
        { result: { reference: true } },
      ) as isolatedVm.Reference<Inside>
  }

  async run(): Promise<Ended> {
    const { source, mode = 'service', functions = {}, load = [], libraries: own = {} } = this.#run
    for (const name of load) this.#call('load', name)
    const { input, inputJson = JSON.stringify(input), maxCalls, maxBytes } = this.#run
    const program: IsolateProgram = {
      source,
      mode,
      ...(inputJson === undefined ? {} : { input: inputJson }),
      calls: Object.keys(functions),
      ...(maxCalls === undefined ? {} : { maxCalls }),
      ...(maxBytes === undefined ? {} : { maxBytes }),
      allowed: [...libraries, ...Object.keys(own)],
    }
    this.#callGuest('start', JSON.stringify(program))
    while (this.#waiting.length > 0 && this.#outcome().state === 'pending') {
      const waiting = this.#waiting
      this.#waiting = []
      await Promise.all(waiting)
    }
    return { ...this.#outcome(), logs: this.#logs }
  }

  #outcome(): IsolateOutcome {
    return JSON.parse(this.#call('outcome') as string) as IsolateOutcome
  }

  #answerLater(id: number, name: string, json: string): void {
    const answer = async (): Promise<void> => {
      await new Promise((resolve) => setImmediate(resolve))
      try {
        const value: unknown = await this.#run.functions?.[name]?.(...(JSON.parse(json) as unknown[]))
        this.#callGuest('answer', id, false, JSON.stringify(value ?? null))
      } catch (thrown) {
        const { name: errorName, message } = thrown as Error
        this.#callGuest('answer', id, true, JSON.stringify({ name: errorName, message }))
      }
    }
    this.#waiting.push(answer())
  }

  /** What it throws is a rejection that nobody handled. */
  #callGuest(name: keyof Inside, ...values: unknown[]): void {
    try {
      this.#call(name, ...values)
    } catch (thrown) {
      const {
        name: errorName = 'Uncaught',
        message = String(thrown),
        stack = '',
      } = Object(thrown) as Partial<Error>
      if (/timed out|disposed/.test(message)) throw thrown
      this.#call('unhandled', errorName, message, stack)
    }
  }

  #call(name: keyof Inside, ...values: unknown[]): unknown {
    const reference = this.#inside.getSync(name, { reference: true }) as isolatedVm.Reference<HostFunction>
    return reference.applySync(undefined, values as never[], { timeout: this.#run.timeoutMs ?? 5000 })
  }
}
