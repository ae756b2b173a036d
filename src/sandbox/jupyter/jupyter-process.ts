/** One process in the space of a Jupyter server: the server itself, or the relay for one connection. */
import type { Duplex } from 'node:stream'

import { LazaretError } from '../../core/errors/errors.ts'
import type { Limits } from '../../core/limits.ts'
import type { StepFailure } from '../../jail/cell/cell-reports.ts'
import type { GuestStream, ProcessListener } from '../../jail/cell/guest-process.ts'
import type { Space } from '../../jail/cell/sandbox-cell.ts'
import { explainFailure } from '../../jail/launch/launch.ts'
import { requireConfined } from '../../runtimes/work/observed.ts'
import type { Spaces } from '../spaces.ts'

export interface JupyterProgram {
  readonly file: string
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly folder: string
  /** Whether its descriptor 3 is a socket to the host. */
  readonly hasChannel: boolean
}

interface Place {
  readonly spaces: Spaces
  readonly space: Space
  readonly limits: Limits
}

/** How much of the end of its output is kept: enough for the error that ended it. */
const tailBytes = 2048

export class JupyterProcess implements ProcessListener {
  /** Resolves when the process runs and is confined. Rejects with CELL_FAILED. */
  readonly started: Promise<this>
  readonly ended: Promise<void>
  readonly #spawned = Promise.withResolvers<this>()
  readonly #end = Promise.withResolvers<void>()
  readonly #place: Place
  readonly #id: number
  #tail = Buffer.alloc(0)

  constructor(place: Place, { hasChannel, ...program }: JupyterProgram) {
    const { spaces, space, limits } = place
    this.#place = place
    this.started = this.#spawned.promise
    this.ended = this.#end.promise
    this.started.catch(() => undefined)
    const spec = {
      ...spaces.commonSpec(space, { limits }),
      ...program,
      ...(hasChannel && { channel: 'own' as const }),
      outputBytes: Number.MAX_SAFE_INTEGER,
    }
    const fail = (failure: StepFailure) => this.#lose(explainFailure(failure, space.plan))
    this.#id = space.cell.spawn(spec, this, fail)
  }

  /** The host's end of descriptor 3, once the process has started. */
  get stream(): Duplex | null {
    return this.#place.space.cell.channelOf(this.#id)
  }

  /** The end of its output. Guest text. */
  get tail(): string {
    return this.#tail.toString()
  }

  /** Ends only this process. If it ended at the same moment, `killTree` would end others of its space. */
  kill(): void {
    this.#place.space.cell.kill(this.#id)
  }

  onSpawned(status: string): void {
    try {
      requireConfined(this.#place.space.plan.promises, status)
      this.#spawned.resolve(this)
    } catch (error) {
      this.kill()
      this.#spawned.reject(error)
    }
  }

  onOutput(_stream: GuestStream, bytes: Buffer): void {
    this.#tail = Buffer.concat([this.#tail, bytes]).subarray(-tailBytes)
  }

  onExceeded(): void {}

  onUsage(): void {}

  onExit(): void {
    this.#lose(new LazaretError('CELL_FAILED', { detail: 'A process of the Jupyter server ended at once.' }))
  }

  onLost(): void {
    this.onExit()
  }

  #lose(error: unknown): void {
    this.#spawned.reject(error)
    this.#end.resolve()
  }
}
