/** Output as it arrives: kept up to the run's budget, decoded without splitting characters, handed on as it comes. */
import { StringDecoder } from 'node:string_decoder'

import type { OutputChunk } from '../core/request.ts'
import { Blocks } from './blocks.ts'

export type Stream = OutputChunk['stream']

export class Capture {
  readonly #kept: Record<Stream, Blocks> = { stdout: new Blocks(), stderr: new Blocks() }
  readonly #decoders: Record<Stream, StringDecoder> = {
    stdout: new StringDecoder('utf8'),
    stderr: new StringDecoder('utf8'),
  }
  readonly #onOutput: ((chunk: OutputChunk) => void) | undefined
  #bytes = 0

  /** The cell counts the budget at the source, so nothing beyond it ever arrives here. */
  constructor(onOutput: ((chunk: OutputChunk) => void) | undefined) {
    this.#onOutput = onOutput
  }

  get bytes(): number {
    return this.#bytes
  }

  add(stream: Stream, view: Buffer, atMs: number): void {
    this.#kept[stream].add(view)
    this.#bytes += view.length
    if (this.#onOutput === undefined) return
    const bytes = Buffer.from(view)
    this.#onOutput({ stream, bytes, text: this.#decoders[stream].write(bytes), atMs })
  }

  text(stream: Stream): string {
    return this.#kept[stream].join().toString('utf8')
  }
}
