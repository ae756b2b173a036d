/**
 * Output as it arrives: kept up to the run's budget, decoded without splitting characters, and passed on at once. What is
 * kept stays bytes, outside of the engine's heap, until the result is made.
 */
import { StringDecoder } from 'node:string_decoder'

import type { OutputChunk, RunHandles } from '../core/request.ts'
import type { Steps } from '../core/steps.ts'
import { Delivery } from './delivery.ts'
import type { DeliveryListener } from './delivery.ts'
import type { Reservation } from '../core/host-account.ts'
import { Blocks } from './blocks.ts'
import { decodeAll } from './text-blocks.ts'

export type Stream = OutputChunk['stream']

/**
 * What one byte takes at most while the result is made: as text two in the engine's heap, and as many again when the
 * pieces are joined.
 */
export const heldPerByte = 4

/** Copies what it keeps of the bytes. */
export interface OutputLog {
  add(stream: Stream, bytes: Buffer, atMs: number): void
}

interface CaptureOptions {
  /** Default true. */
  readonly keeps?: boolean | undefined
  /** Grows with what is kept; without room the rest is not kept. Default: nothing counts. */
  readonly room?: Reservation | undefined
  /** Gets all output at once, whether or not the caller takes it. */
  readonly log?: OutputLog | undefined
}

export class Capture {
  readonly #kept: Record<Stream, Blocks> = { stdout: new Blocks(), stderr: new Blocks() }
  /** Undefined if nobody listens. */
  readonly #decoders: Record<Stream, StringDecoder> | undefined
  readonly #delivery: Delivery
  readonly #keeps: boolean
  readonly #log: OutputLog | undefined
  readonly #room: Reservation | undefined
  readonly #cut = new Set<Stream>()
  #bytes = 0

  /**
   * The cell counts the budget at the source, so nothing beyond it ever arrives here. Output without a budget is not
   * kept.
   */
  constructor(
    onOutput: RunHandles['onOutput'],
    listener: DeliveryListener,
    { keeps = true, log, room }: CaptureOptions = {},
  ) {
    this.#keeps = keeps
    this.#log = log
    this.#room = room
    if (onOutput !== undefined)
      this.#decoders = { stdout: new StringDecoder('utf8'), stderr: new StringDecoder('utf8') }
    this.#delivery = new Delivery(onOutput ?? (() => undefined), listener)
  }

  get bytes(): number {
    return this.#bytes
  }

  /** The streams that are kept only in part, because the host held too much. */
  get cut(): readonly Stream[] {
    return [...this.#cut]
  }

  add(stream: Stream, view: Buffer, atMs: number): void {
    this.#bytes += view.length
    if (this.#keeps) this.#keep(stream, view)
    this.#log?.add(stream, view, atMs)
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

  /** Called once, when nothing follows. A stream of `cut` ends with its last whole character. */
  *texts(cut: readonly string[] = []): Steps<Record<Stream, string>> {
    const isCut = (stream: Stream): boolean => cut.includes(stream) || this.#cut.has(stream)
    const textOf = (stream: Stream): Steps<string> =>
      decodeAll(this.#kept[stream].take(), 'utf8', { isCut: isCut(stream) })
    return { stdout: yield* textOf('stdout'), stderr: yield* textOf('stderr') }
  }

  /** What finds no room is not kept, and neither is what follows it. */
  #keep(stream: Stream, view: Buffer): void {
    const hasRoom = this.#cut.size === 0 && this.#room?.tryGrow(heldPerByte * view.length) !== false
    if (hasRoom) this.#kept[stream].add(view)
    else this.#cut.add(stream)
  }
}
