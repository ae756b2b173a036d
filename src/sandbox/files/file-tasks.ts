/** Runs tasks of the file service, a fixed number at one time, and turns their ends into results or errors. */
import { LazaretError } from '../../core/errors/errors.ts'
import type { Reservation } from '../../core/host-account.ts'
import type { FileOperation } from '../../core/work.ts'
import type { Begun } from '../../policy/governor.ts'
import { fileErrorOf } from './file-errors.ts'
import type { FileProcess, StartFileProcess } from './file-process.ts'
import { Semaphore } from '../commands/semaphore.ts'

/** What file operations need. */
export interface FileGround {
  /** Throws if the sandbox is gone, and what the policy throws. */
  readonly begin: (operation: FileOperation, path: string) => Promise<Begun>
  readonly start: StartFileProcess
  /** For answers whose length the guest decides. */
  readonly reserve: () => Reservation
}

export interface FileTask {
  readonly task: FileOperation
  /** The first is the path that an error names. */
  readonly args: readonly string[]
  readonly input?: Uint8Array
}

/** A cell runs few processes at one time, and most of them are for commands. */
const shortTasksMax = 6
const streamsMax = 4
/** Fits into the input credit of a process. */
const inputPieceBytes = 64 * 1024

export class FileTasks {
  readonly #ground: FileGround
  readonly #short = new Semaphore(shortTasksMax)
  /** Streams have separate places, so that slow callers do not delay short tasks. */
  readonly #streams = new Semaphore(streamsMax)

  constructor(ground: FileGround) {
    this.#ground = ground
  }

  /** The complete answer of a short task; if `held` is given, it is counted there as it arrives. */
  async run(task: FileTask, answerBytesMax = 0, held?: Reservation): Promise<Buffer> {
    const { process, over } = await this.#begin(task, this.#short)
    let failure: unknown
    try {
      const [answer] = await Promise.all([
        collect(process.output, answerBytesMax, held),
        feed(process, task.input ?? Buffer.alloc(0)),
      ])
      const exit = await process.exit
      if (exit.exitCode !== 0) throw fileErrorOf(exit, task)
      return answer
    } catch (error) {
      failure = error
      throw error
    } finally {
      await over(failure)
    }
  }

  /** The answer as it arrives. Leaving the loop ends the task. */
  async *stream(task: FileTask): AsyncGenerator<Uint8Array, void, void> {
    await using running = await this.open(task)
    running.process.end()
    yield* running.process.output
    await running.finish()
  }

  /** A task with input and output for the caller. Disposing it ends the task. */
  async open(task: FileTask): Promise<OpenTask> {
    const { process, over } = await this.#begin(task, this.#streams)
    let failure: unknown
    return {
      process,
      async finish() {
        const exit = await process.exit
        if (exit.exitCode === 0) return
        failure = fileErrorOf(exit, task)
        throw failure
      },
      [Symbol.asyncDispose]: () => over(failure),
    }
  }

  async #begin({ task, args }: FileTask, semaphore: Semaphore): Promise<BegunTask> {
    const begun = await this.#ground.begin(task, args[0] ?? '')
    const release = await semaphore.acquire()
    let process: FileProcess
    try {
      process = this.#ground.start(task, args)
    } catch (error) {
      release()
      await begun.fail(error)
      throw error
    }
    return {
      process,
      async over(failure) {
        process.kill()
        await process.exit.catch(() => undefined)
        release()
        await (failure === undefined ? begun.end({ outcome: 'done' }) : begun.fail(failure))
      },
    }
  }
}

interface BegunTask {
  readonly process: FileProcess
  /** Ends the process, and with it the work. Rejects when the record could not be kept. */
  readonly over: (failure?: unknown) => Promise<void>
}

export interface OpenTask extends AsyncDisposable {
  readonly process: FileProcess
  /** Resolves if the task succeeded, else rejects with the reason. */
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

async function collect(
  output: AsyncIterable<Uint8Array>,
  bytesMax: number,
  held: Reservation | undefined,
): Promise<Buffer> {
  const pieces: Uint8Array[] = []
  let bytes = 0
  for await (const piece of output) {
    bytes += piece.length
    if (bytes > bytesMax) {
      throw new LazaretError('FILE_TOO_LARGE', { detail: `The answer is longer than ${bytesMax} bytes.` })
    }
    held?.resize(bytes)
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}
