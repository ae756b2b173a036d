/**
 * Delivers output and other notices to the caller, one at a time and in order. While the caller is busy with one, the
 * others wait here. A little may wait, so that the end of a program is known while the caller still takes its last
 * line. If more waits, the listener stops the source.
 */
import { onAbort } from '../core/abort.ts'
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
export const waitingBytesMax = 64 * 1024
/**
 * Beyond this number, chunks of the same stream are joined: a caller that is slow for each chunk must not be slow for
 * each byte.
 */
const waitingPiecesMax = 64

/** A chunk, to which later ones of its stream may have been joined. */
interface Piece {
  readonly stream: OutputChunk['stream']
  readonly atMs: number
  readonly bytes: Uint8Array[]
  text: string
}

/** Something other than output. */
interface Notice {
  readonly act: () => void | Promise<void>
}

/** A notice with nothing in it takes memory, too. */
const noticeBytes = 128

export class Delivery {
  readonly #take: TakeOutput
  readonly #listener: DeliveryListener
  #waiting: (Piece | Notice)[] = []
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
    this.#deliverOrWait(chunk.bytes.length)
  }

  tell(length: number, act: Notice['act']): void {
    if (this.#isStopped) return
    this.#waiting.push({ act })
    this.#deliverOrWait(noticeBytes + length)
  }

  #deliverOrWait(bytes: number): void {
    if (!this.#isBusy) {
      this.#deliver()
      return
    }
    this.#waitingBytes += bytes
    if (this.#isFull || this.#waitingBytes < waitingBytesMax) return
    this.#isFull = true
    this.#listener.onFull()
  }

  #add({ stream, bytes, text, atMs }: OutputChunk): void {
    const isCrowded = this.#waiting.length >= waitingPiecesMax
    const last = isCrowded ? this.#lastOf(stream) : undefined
    if (last === undefined) {
      this.#waiting.push({ stream, atMs, bytes: [bytes], text })
      return
    }
    last.bytes.push(bytes)
    last.text += text
  }

  /** The last piece of the stream, unless a notice follows it: output does not overtake notices. */
  #lastOf(stream: OutputChunk['stream']): Piece | undefined {
    const found = this.#waiting.findLast((one) => 'act' in one || one.stream === stream)
    return found === undefined || 'act' in found ? undefined : found
  }

  /** Resolves when everything was taken, or is no longer wanted. Rejects with what the caller's function threw. */
  async finish(signal: AbortSignal | undefined): Promise<void> {
    if (signal?.aborted === true) this.#stop()
    if (this.#isBusy && !this.#isStopped) {
      const stopListening = signal && onAbort(signal, () => this.#stop())
      await new Promise<void>((resolve) => (this.#onRest = resolve))
      stopListening?.()
    }
    if (this.#failure !== undefined) throw this.#failure.error
  }

  #deliver(): void {
    for (const act of this.#shift()) {
      try {
        const taken = act()
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

  *#shift(): Generator<Notice['act']> {
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      if ('act' in next) {
        yield next.act
        continue
      }
      const { bytes: pieces, ...piece } = next
      const [first = Buffer.alloc(0), ...others] = pieces
      yield () => this.#take({ ...piece, bytes: others.length === 0 ? first : Buffer.concat(pieces) })
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
