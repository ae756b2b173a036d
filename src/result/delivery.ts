/**
 * Output on its way to the caller, one piece at a time. While the caller is busy with one, the others wait here. Only a
 * little may wait: then the end of a program is known while the caller still takes its last line. If more waits, the
 * listener stops the source.
 */
import type { OutputChunk, RunHandles } from '../core/request.ts'

type TakeOutput = NonNullable<RunHandles['onOutput']>

export interface DeliveryListener {
  /** Enough waits here: send no more. */
  onFull(): void
  /** Everything has been taken: send on. */
  onEmpty(): void
  /** The caller's function threw or rejected; it is not called again. */
  onFailure(error: unknown): void
}

/** About the size of one read from a socket. */
const waitingBytesMax = 64 * 1024
/** Later chunks of the same stream are joined: a caller that is slow for each chunk must not be slow for each byte. */
const waitingPiecesMax = 64

/** A chunk, to which later ones of its stream may have been joined. */
interface Piece {
  readonly stream: OutputChunk['stream']
  readonly atMs: number
  readonly bytes: Uint8Array[]
  text: string
}

export class Delivery {
  readonly #take: TakeOutput
  readonly #listener: DeliveryListener
  #waiting: Piece[] = []
  #waitingBytes = 0
  #isBusy = false
  #isFull = false
  #isStopped = false
  #failure: { readonly error: unknown } | undefined
  #onRest: (() => void) | undefined

  constructor(take: TakeOutput, listener: DeliveryListener) {
    this.#take = take
    this.#listener = listener
  }

  push(chunk: OutputChunk): void {
    if (this.#isStopped) return
    this.#add(chunk)
    if (!this.#isBusy) {
      this.#deliver()
      return
    }
    this.#waitingBytes += chunk.bytes.length
    if (this.#isFull || this.#waitingBytes < waitingBytesMax) return
    this.#isFull = true
    this.#listener.onFull()
  }

  #add({ stream, bytes, text, atMs }: OutputChunk): void {
    const isCrowded = this.#waiting.length >= waitingPiecesMax
    const last = isCrowded ? this.#waiting.findLast((piece) => piece.stream === stream) : undefined
    if (last === undefined) {
      this.#waiting.push({ stream, atMs, bytes: [bytes], text })
      return
    }
    last.bytes.push(bytes)
    last.text += text
  }

  /** Resolves when everything was taken, or is no longer wanted. Rejects with what the caller's function threw. */
  async finish(signal: AbortSignal | undefined): Promise<void> {
    const stop = (): void => this.#stop()
    if (signal?.aborted === true) stop()
    signal?.addEventListener('abort', stop, { once: true })
    if (this.#isBusy && !this.#isStopped) await new Promise<void>((resolve) => (this.#onRest = resolve))
    signal?.removeEventListener('abort', stop)
    if (this.#failure !== undefined) throw this.#failure.error
  }

  #deliver(): void {
    for (const chunk of this.#shift()) {
      try {
        const taken = this.#take(chunk)
        if (typeof taken?.then !== 'function') continue
        this.#isBusy = true
        taken.then(
          () => this.#deliver(),
          (error: unknown) => this.#fail(error),
        )
        return
      } catch (error) {
        this.#fail(error)
        return
      }
    }
    if (!this.#isBusy) return
    this.#isBusy = false
    this.#waitingBytes = 0
    if (this.#isFull) this.#listener.onEmpty()
    this.#isFull = false
    this.#onRest?.()
  }

  *#shift(): Generator<OutputChunk> {
    for (let piece = this.#waiting.shift(); piece !== undefined; piece = this.#waiting.shift()) {
      const [first = Buffer.alloc(0), ...others] = piece.bytes
      yield { ...piece, bytes: others.length === 0 ? first : Buffer.concat(piece.bytes) }
    }
  }

  #fail(error: unknown): void {
    if (this.#isStopped) return
    this.#failure = { error }
    this.#stop()
    this.#listener.onFailure(error)
  }

  #stop(): void {
    this.#isStopped = true
    this.#waiting = []
    this.#onRest?.()
  }
}
