/**
 * A task of the file service as a process of the user space. Guests there have the same ids: they cannot inspect it, but
 * they can stop it or kill it, and then the task fails.
 */
import { constants } from 'node:os'

import { LazaretError } from '../../core/errors/errors.ts'
import type { GuestStream, ProcessListener, ProcessReport } from '../../jail/cell/guest-process.ts'
import { planFileRlimits } from '../../jail/limits/rlimits.ts'
import { requireConfined } from '../../runtimes/work/observed.ts'
import { ProcessLife } from '../../runtimes/work/process-life.ts'
import { explainStart } from '../explain-start.ts'
import type { Spaces } from '../spaces.ts'
import type { FileExit, FileProcess } from './file-process.ts'

/** A task that is silent for this long, although output is expected, has been stopped. */
const silenceMs = 30_000
const stderrBytesMax = 64 * 1024
/** Bytes that are buffered here for a slow caller before the task has to wait too. */
const waitingBytesMax = 1024 * 1024

export interface FileTask {
  readonly task: string
  readonly args: readonly string[]
  /** Whether it may be silent for any time. Default false. */
  readonly isPatient?: boolean
}

export function startFileTask(spaces: Spaces, task: FileTask): FileProcess {
  return new FileTaskProcess(spaces, task)
}

class FileTaskProcess implements FileProcess, ProcessListener {
  readonly exit: Promise<FileExit>
  readonly #spaces: Spaces
  readonly #id: number
  readonly #life = new ProcessLife<FileExit>()
  readonly #isPatient: boolean
  readonly #waiting: Buffer[] = []
  #waitingBytes = 0
  #isHeld = false
  #stderr = ''
  #writing = 0
  #isInputOver = false
  #wake = (): void => undefined
  #calmDown = (): void => undefined

  constructor(spaces: Spaces, { task, args, isPatient = false }: FileTask) {
    this.#spaces = spaces
    this.#isPatient = isPatient
    this.exit = this.#life.ended
    const { user, parts } = spaces
    const spec = {
      ...spaces.commonSpec(user),
      file: task,
      argv: args,
      env: {},
      folder: spaces.workspace,
      rlimits: planFileRlimits(parts.limits.diskBytes),
      stdin: 'later' as const,
      outputBytes: Number.MAX_SAFE_INTEGER,
      adopts: false,
      isFileTask: true,
    }
    this.#life.until(() => this.#calmDown())
    this.#listen()
    this.#id = user.cell.spawn(spec, this, (failure) => this.#fail(explainStart(failure, user.plan)))
  }

  async write(bytes: Uint8Array): Promise<void> {
    this.#writing++
    this.#listen()
    await this.#spaces.user.cell.writeStdin(this.#id, bytes)
    this.#writing--
  }

  end(): void {
    this.#isInputOver = true
    this.#listen()
    this.#spaces.user.cell.endStdin(this.#id)
  }

  kill(): void {
    if (this.#life.isOver) return
    this.#hold(false)
    this.#spaces.user.cell.kill(this.#id)
  }

  get output(): AsyncIterable<Uint8Array> {
    return this.#read()
  }

  onSpawned(status: string): void {
    try {
      requireConfined(this.#spaces.user.plan.promises, status)
    } catch (error) {
      this.kill()
      this.#fail(error)
    }
  }

  onOutput(stream: GuestStream, bytes: Buffer): void {
    if (this.#life.isOver) return
    this.#listen()
    if (stream !== 'stdout') {
      this.#stderr = (this.#stderr + bytes.toString()).slice(0, stderrBytesMax)
      return
    }
    this.#waiting.push(Buffer.from(bytes))
    this.#waitingBytes += bytes.length
    if (this.#waitingBytes > waitingBytesMax) this.#hold(true)
    this.#wake()
  }

  onExceeded(): void {}

  onUsage(): void {}

  onLost(): void {
    this.#fail(new LazaretError('SANDBOX_GONE'))
  }

  onExit({ end }: ProcessReport): void {
    this.#life.end({ exitCode: end.by === 'exit' ? end.exitCode : killedCode, stderr: this.#stderr })
    this.#wake()
  }

  async *#read(): AsyncGenerator<Uint8Array> {
    for (;;) {
      const bytes = this.#waiting.shift()
      if (bytes !== undefined) {
        this.#waitingBytes -= bytes.length
        if (this.#waitingBytes === 0) this.#hold(false)
        yield bytes
      } else if (this.#life.isOver) return
      else await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }

  #hold(isHeld: boolean): void {
    if (this.#isHeld === isHeld || this.#life.isOver) return
    this.#isHeld = isHeld
    this.#spaces.user.cell.holdOutput(this.#id, isHeld)
  }

  /** Restarts the timeout: the process has just sent something, or received work. */
  #listen(): void {
    this.#calmDown()
    if (this.#life.isOver || this.#isPatient) return
    this.#calmDown = this.#spaces.parts.clock.after(silenceMs, () => {
      const owes = (this.#isInputOver || this.#writing > 0) && this.#waitingBytes === 0
      if (owes) this.kill()
      this.#listen()
    })
  }

  #fail(error: unknown): void {
    this.#life.fail(error)
    this.#wake()
  }
}

const killedCode = 128 + constants.signals.SIGKILL
