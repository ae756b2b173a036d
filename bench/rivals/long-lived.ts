/**
 * A rival in its own process, which starts an interpreter for each run: Bun with `Bun.spawn`, Python with `subprocess`.
 * Lines of JSON request slices of load. It keeps its runs in flight itself and times them by its own clock, so that the
 * requests do not count against it.
 */
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

import { own } from '../measure/interruption.ts'
import type { Rival } from '../measure/compare.ts'
import type { Contestant, Load, Slice } from '../measure/sustain.ts'

export interface Work {
  /** The program of one run and its arguments. */
  readonly command: readonly string[]
  /** The expected output. */
  readonly expected: string
}

export class LongLivedRival implements Contestant, Rival, AsyncDisposable {
  readonly name: string
  readonly #child: ChildProcess
  #ask: (slice: Slice) => Promise<Load>

  private constructor(name: string, child: ChildProcess, ask: (slice: Slice) => Promise<Load>) {
    this.name = name
    this.#child = child
    this.#ask = ask
  }

  static bun(name: string, bun: string, work: Work): LongLivedRival {
    return LongLivedRival.#start(name, [bun, join(import.meta.dirname, 'bun-spawn.ts')], work)
  }

  /** The command is the code of a message, and the expected output its result. */
  static bunActor(name: string, bun: string, work: Work): LongLivedRival {
    return LongLivedRival.#start(name, [bun, join(import.meta.dirname, 'bun-actor.ts')], work)
  }

  static python(name: string, python: string, work: Work): LongLivedRival {
    return LongLivedRival.#start(name, [python, join(import.meta.dirname, 'python-subprocess.py')], work)
  }

  static #start(name: string, [file = '', ...args]: readonly string[], work: Work): LongLivedRival {
    const child = spawn(file, [...args, work.expected, ...work.command], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    own(child)
    const waiting: PromiseWithResolvers<Load>[] = []
    const lost = (error: Error): void => {
      for (const { reject } of waiting.splice(0)) reject(error)
    }
    child.once('error', lost)
    child.once('exit', (code, signal) => lost(new Error(`${name} ended with ${code ?? signal}.`)))
    child.stdin.on('error', () => {}) // The event `exit` reports it.
    createInterface(child.stdout).on('line', (line) => waiting.shift()?.resolve(JSON.parse(line) as Load))
    return new LongLivedRival(name, child, async (slice) => {
      const answer = Promise.withResolvers<Load>()
      waiting.push(answer)
      child.stdin.write(`${JSON.stringify(slice)}\n`)
      return await answer.promise
    })
  }

  async sustain(slice: Slice): Promise<Load> {
    return await this.#ask(slice)
  }

  /** One run, by the rival's own clock. */
  turn = async (): Promise<number> => {
    const { times, wrong } = await this.#ask({ inFlight: 1, ms: 0 })
    if (times[0] === undefined) throw new Error(`A turn of ${this.name} went wrong: ${wrong.join('; ')}`)
    return times[0]
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const isGone = this.#child.exitCode !== null || this.#child.signalCode !== null
    const gone = isGone ? undefined : once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await gone
  }
}
