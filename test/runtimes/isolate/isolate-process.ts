/** A Node process for isolates, for tests. isolated-vm needs a Node without its own heap snapshot. */
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type * as isolatedVm from 'isolated-vm'
import { answerUrl } from '../../../src/runtimes/isolate/guest/urls.ts'
import type { Inside, IsolateOutcome } from '../../../src/runtimes/isolate/inside/protocol.ts'
import { checkoutRoot } from '../../support/sources/checkout.ts'
import { type Answer, type Ask, type Ended, librarySource, type Told } from './messages.ts'

const ivm = createRequire(import.meta.url)('isolated-vm') as typeof isolatedVm
const insideText = readFileSync(join(checkoutRoot, 'dist/harness-isolate/inside.js'), 'utf8')
/** As in workers, a snapshot provides the inside of each new isolate. */
const snapshot = ivm.Isolate.createSnapshot([
  // Keeps what the inside removes when it is evaluated, so that tests can check that no program gets it.
  {
    code: `globalThis.$lazaretTaken = [() => {}, async () => {}, function* () {}, async function* () {}]
      .map((kind) => Object.getPrototypeOf(kind).constructor)
      .concat([eval, ArrayBuffer, console, console.log])`,
  },
  { code: `globalThis.$lazaretOpen = ${insideText}` },
])
const answers = new Map<number, (answer: Answer) => void>()

process.on('message', (message: Ask | Answer) => {
  if ('program' in message) void perform(message)
  else answers.get(message.call)?.(message)
})

async function perform(ask: Ask): Promise<void> {
  const isolate = new ivm.Isolate({ memoryLimit: 64, snapshot })
  try {
    tell({ run: ask.run, ended: await new Conversation(isolate, ask).run() })
  } catch (thrown) {
    tell({ run: ask.run, failed: String((thrown as Error).stack) })
  } finally {
    isolate.dispose()
  }
}

function tell(told: Told): void {
  process.send?.(told)
}

class Conversation {
  readonly #logs: string[] = []
  #outcome: IsolateOutcome | undefined
  readonly #ask: Ask
  readonly #inside: isolatedVm.Reference<Inside>
  #waiting: Promise<void>[] = []

  constructor(isolate: isolatedVm.Isolate, ask: Ask) {
    this.#ask = ask
    const context = isolate.createContextSync()
    const around = ask.around ?? '$text'
    const opened = around.replace('$text', () => 'lazaretOpen')
    this.#inside = context.evalClosureSync(
      `const lazaretOpen = globalThis.$lazaretOpen
      const lazaretTaken = globalThis.$lazaretTaken
      delete globalThis.$lazaretOpen
      delete globalThis.$lazaretTaken
      return (${opened})($0, $1, $2, $3, $4, $5)`,
      [
        new ivm.Callback((_level: string, line: string) => void this.#logs.push(line)),
        new ivm.Callback((id: number, name: string, json: string) => this.#answerLater(id, name, json)),
        new ivm.Callback((bytes: number) => randomBytes(bytes).toString('latin1')),
        new ivm.Callback((name: string) => ask.libraries[name] ?? librarySource(name)),
        new ivm.Callback((json: string) => {
          this.#outcome = JSON.parse(json) as IsolateOutcome
        }),
        new ivm.Callback((question: string) => answerUrl(question)),
      ],
      { result: { reference: true } },
    ) as isolatedVm.Reference<Inside>
  }

  async run(): Promise<Ended> {
    for (const name of this.#ask.load) this.#call('load', name)
    this.#callGuest('start', JSON.stringify(this.#ask.program))
    while (this.#waiting.length > 0 && this.#outcome === undefined) {
      const waiting = this.#waiting
      this.#waiting = []
      await Promise.all(waiting)
    }
    return { ...(this.#outcome ?? { state: 'pending' }), logs: this.#logs }
  }

  #answerLater(id: number, name: string, args: string): void {
    const { run } = this.#ask
    // Many runs may wait for answers at the same time.
    const call = answers.size
    const answered = new Promise<Answer>((resolve) => answers.set(call, resolve))
    tell({ run, call, name, args })
    this.#waiting.push(answered.then(({ isError, json }) => this.#callGuest('answer', id, isError, json)))
  }

  /** An exception becomes an unhandled rejection. */
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
    const reference = this.#inside.getSync(name, { reference: true }) as isolatedVm.Reference<
      (...values: unknown[]) => unknown
    >
    return reference.applySync(undefined, values as never[], { timeout: this.#ask.timeoutMs })
  }
}
