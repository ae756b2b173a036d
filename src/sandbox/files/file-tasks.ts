/** Runs tasks of the file service, so many at one time, and turns their ends into answers or errors. */
import { LazaretError } from '../../core/errors.ts'
import { fileErrorOf } from './file-errors.ts'
import type { FileProcess, StartFileProcess } from './file-process.ts'
import { Turnstile } from '../turnstile.ts'

export interface FileTask {
  readonly task: string
  /** The first is the path that an error names. */
  readonly args: readonly string[]
  readonly input?: Uint8Array
}

/** A cell runs few processes at one time, and most of them are for commands. */
const shortTasksMax = 6
const streamsMax = 4
/** Fits into what a cell takes ahead for one process. */
const inputPieceBytes = 64 * 1024

export class FileTasks {
  readonly #start: StartFileProcess
  readonly #short = new Turnstile(shortTasksMax)
  /** Their callers may take their time, so they do not hold up the short ones. */
  readonly #streams = new Turnstile(streamsMax)

  constructor(start: StartFileProcess) {
    this.#start = start
  }

  /** The whole answer of a task that is done at once. */
  async run(task: FileTask, answerBytesMax = 0): Promise<Buffer> {
    const leave = await this.#short.enter()
    const process = this.#begin(task, leave)
    try {
      const [answer] = await Promise.all([
        collect(process.output, answerBytesMax),
        feed(process, task.input ?? Buffer.alloc(0)),
      ])
      const exit = await process.exit
      if (exit.exitCode !== 0) throw fileErrorOf(exit, task.args[0] ?? '')
      return answer
    } finally {
      process.kill()
      await process.exit.catch(() => undefined)
      leave()
    }
  }

  /** The answer as it comes. When nobody wants more of it, the task is ended. */
  async *stream(task: FileTask): AsyncGenerator<Uint8Array, void, void> {
    await using running = await this.open(task)
    running.process.end()
    yield* running.process.output
    await running.finish()
  }

  /** A task that the caller talks with. Ended when it is disposed. */
  async open(task: FileTask): Promise<OpenTask> {
    const leave = await this.#streams.enter()
    const process = this.#begin(task, leave)
    return {
      process,
      async finish() {
        const exit = await process.exit
        if (exit.exitCode !== 0) throw fileErrorOf(exit, task.args[0] ?? '')
      },
      async [Symbol.asyncDispose]() {
        process.kill()
        await process.exit.catch(() => undefined)
        leave()
      },
    }
  }

  #begin({ task, args }: FileTask, leave: () => void): FileProcess {
    try {
      return this.#start(task, args)
    } catch (error) {
      leave()
      throw error
    }
  }
}

export interface OpenTask extends AsyncDisposable {
  readonly process: FileProcess
  /** Resolves when the task was done, rejects with the reason why it was not. */
  finish(): Promise<void>
}

/** Stops quietly when the process has ended: its exit says why. */
async function feed(process: FileProcess, input: Uint8Array): Promise<void> {
  const over = process.exit.then(
    () => 'over' as const,
    () => 'over' as const,
  )
  for (let at = 0; at < input.length; at += inputPieceBytes) {
    const written = process.write(input.subarray(at, at + inputPieceBytes)).catch(() => over)
    if ((await Promise.race([written, over])) === 'over') break
  }
  process.end()
}

async function collect(output: AsyncIterable<Uint8Array>, bytesMax: number): Promise<Buffer> {
  const pieces: Uint8Array[] = []
  let bytes = 0
  for await (const piece of output) {
    bytes += piece.length
    if (bytes > bytesMax) {
      throw new LazaretError('FILE_TOO_LARGE', { detail: `The answer is longer than ${bytesMax} bytes.` })
    }
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}
