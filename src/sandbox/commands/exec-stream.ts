/** A command as a stream of events: a slow reader slows the command, and only unread events are kept. */
import type { OutputChunk } from '../../core/request.ts'
import type { ExecOptions, ExecResult } from '../types.ts'

export type ExecEvent =
  | { readonly type: 'start'; readonly command: string }
  | {
      readonly type: 'stdout' | 'stderr'
      readonly text: string
      readonly bytes: Uint8Array
      readonly atMs: number
    }
  | { readonly type: 'complete'; readonly result: ExecResult }
  /** The command could not be run. (Everything that a command itself does ends in `complete`.) */
  | { readonly type: 'error'; readonly error: unknown }

type Wishes = Pick<ExecOptions, 'onOutput' | 'signal'>

/** The command starts when the first event is requested; a reader that stops ends it. */
export async function* streamExec(
  command: string,
  { onOutput, signal }: Wishes,
  run: (wishes: Wishes) => Promise<ExecResult>,
): AsyncGenerator<ExecEvent> {
  const stop = new AbortController()
  const signals = signal === undefined ? stop.signal : AbortSignal.any([stop.signal, signal])
  let waiting: { readonly chunk: OutputChunk; readonly taken: () => void } | undefined
  let end: ExecEvent | undefined
  let news = Promise.withResolvers<void>()
  const take = async (chunk: OutputChunk): Promise<void> => {
    await onOutput?.(chunk)
    await new Promise<void>((taken) => {
      waiting = { chunk, taken }
      news.resolve()
    })
  }
  const finish = (event: ExecEvent) => {
    end = event
    news.resolve()
  }
  try {
    yield { type: 'start', command }
    void run({ onOutput: take, signal: signals }).then(
      (result) => finish({ type: 'complete', result }),
      (error: unknown) => finish({ type: 'error', error }),
    )
    for (;;) {
      await news.promise
      news = Promise.withResolvers()
      const given = waiting
      waiting = undefined
      if (given !== undefined) {
        const { stream, text, bytes, atMs } = given.chunk
        yield { type: stream, text, bytes, atMs }
        given.taken()
      }
      if (end !== undefined) {
        yield end
        return
      }
    }
  } finally {
    stop.abort()
    waiting?.taken()
  }
}
