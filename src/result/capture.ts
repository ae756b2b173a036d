/** Output as it arrives: kept up to the run's budget, decoded without splitting characters, and passed on at once. */
import { StringDecoder } from 'node:string_decoder'

import type { OutputChunk, RunHandles } from '../core/request.ts'
import { Delivery } from './delivery.ts'
import type { DeliveryListener } from './delivery.ts'
import { TextBlocks } from './text-blocks.ts'

export type Stream = OutputChunk['stream']

/** Copies what it keeps of the bytes. */
export interface OutputLog {
  add(stream: Stream, bytes: Buffer, atMs: number): void
}

interface CaptureOptions {
  /** Default true. */
  readonly keeps?: boolean | undefined
  /** Gets all output at once, whether or not the caller takes it. */
  readonly log?: OutputLog | undefined
}

export class Capture {
  readonly #kept: Record<Stream, TextBlocks> = { stdout: new TextBlocks(), stderr: new TextBlocks() }
  /** Undefined if nobody listens. */
  readonly #decoders: Record<Stream, StringDecoder> | undefined
  readonly #delivery: Delivery
  readonly #keeps: boolean
  readonly #log: OutputLog | undefined
  #bytes = 0

  /**
   * The cell counts the budget at the source, so nothing beyond it ever arrives here. Output without a budget is not
   * kept.
   */
  constructor(
    onOutput: RunHandles['onOutput'],
    listener: DeliveryListener,
    { keeps = true, log }: CaptureOptions = {},
  ) {
    this.#keeps = keeps
    this.#log = log
    if (onOutput !== undefined)
      this.#decoders = { stdout: new StringDecoder('utf8'), stderr: new StringDecoder('utf8') }
    this.#delivery = new Delivery(onOutput ?? (() => undefined), listener)
  }

  get bytes(): number {
    return this.#bytes
  }

  add(stream: Stream, view: Buffer, atMs: number): void {
    if (this.#keeps) this.#kept[stream].add(view)
    this.#log?.add(stream, view, atMs)
    this.#bytes += view.length
    if (this.#decoders === undefined) return
    const bytes = Buffer.from(view)
    this.#delivery.push({ stream, bytes, text: this.#decoders[stream].write(bytes), atMs })
  }

  /**
   * Queues a call of another function of the caller, in order with the output. `length` estimates the memory that it
   * takes while it waits.
   */
  tell(length: number, act: () => void | Promise<void>): void {
    this.#delivery.tell(length, act)
  }

  /** Resolves when the caller has taken all output, or wants no more. Rejects with what its `onOutput` threw. */
  async delivered(signal: AbortSignal | undefined): Promise<void> {
    await this.#delivery.finish(signal)
  }

  /** Called once for each stream, when nothing follows. */
  text(stream: Stream): string {
    return this.#kept[stream].end()
  }
}
