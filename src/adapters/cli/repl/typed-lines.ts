/** Lines that a person types at a terminal, including lines typed ahead. */
import { createInterface } from 'node:readline'
import type { Interface } from 'node:readline'

import { historyLinesMax, isKept } from './history-file.ts'

export type Typed =
  | { readonly kind: 'line'; readonly line: string }
  /** Ctrl-C: discards the typed text. */
  | { readonly kind: 'forget' }
  /** Ctrl-D, or the terminal is gone. */
  | { readonly kind: 'end' }

export interface TypedLinesParts {
  readonly history: string[]
  readonly onHistory: (lines: readonly string[]) => void
  readonly complete: (line: string) => Promise<[string[], string]>
  /** Ctrl-C while no line is expected. */
  readonly onInterrupt: () => void
}

/** The most lines that are kept while code runs. */
const waitingMax = 1000

export class TypedLines implements Disposable {
  readonly #reader: Interface
  readonly #waiting: Typed[] = []
  #wake: ((typed: Typed) => void) | undefined
  #isOver = false
  /** Whether the expected line is code. */
  #isCode = false

  constructor({ history, onHistory, complete, onInterrupt }: TypedLinesParts) {
    this.#reader = createInterface({
      input: process.stdin,
      output: process.stdout,
      terminal: true,
      historySize: historyLinesMax,
      removeHistoryDuplicates: true,
      history,
      completer: (line: string, tell: (error: Error | null, found: [string[], string]) => void) =>
        void complete(line).then(
          (found) => tell(null, found),
          () => tell(null, [[], line]),
        ),
    })
    this.#reader.on('line', (line) => this.#push({ kind: 'line', line }))
    this.#reader.on('close', () => {
      this.#isOver = true
      this.#push({ kind: 'end' })
    })
    this.#reader.on('history', (lines: string[]) => {
      // Answers to `input()`, and lines that may become one, stay out of the history.
      if (lines[0] !== undefined && !(this.#isCode && isKept(lines[0]))) lines.shift()
      onHistory(lines)
    })
    this.#reader.on('SIGINT', () => {
      if (this.#wake === undefined) return onInterrupt()
      this.#reader.write(null, { ctrl: true, name: 'e' })
      this.#reader.write(null, { ctrl: true, name: 'u' })
      process.stdout.write('^C\n')
      this.#push({ kind: 'forget' })
    })
  }

  /** An answer, unlike code, is not kept in the history. */
  async next(prompt: string, kind: 'code' | 'answer'): Promise<Typed> {
    const waiting = this.#waiting.shift()
    if (waiting !== undefined) return waiting
    if (this.#isOver) return { kind: 'end' }
    this.#isCode = kind === 'code'
    this.#reader.setPrompt(prompt)
    this.#reader.prompt()
    return new Promise((resolve) => (this.#wake = resolve))
  }

  close(): void {
    this.#reader.close()
  }

  [Symbol.dispose](): void {
    this.close()
  }

  #push(typed: Typed): void {
    const wake = this.#wake
    this.#wake = undefined
    this.#isCode = false
    if (wake !== undefined) wake(typed)
    else if (this.#waiting.length < waitingMax) this.#waiting.push(typed)
  }
}
