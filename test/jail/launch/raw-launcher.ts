/** The launcher with direct access to its sockets, so that a test can send any bytes. */
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import type { Duplex } from 'node:stream'

import { defaultLimits } from '../../../src/core/limits.ts'
import { FrameDecoder, encodeFrame, frameType } from '../../../src/jail/launch/frames.ts'
import { requireLauncher } from '../../../src/jail/launch/launcher-path.ts'
import type { LeasedGround, Machine } from '../../../src/jail/machine/machine.ts'
import type { Place } from '../../../src/jail/plan/place.ts'
import { planCell } from '../../../src/jail/plan/plan.ts'
import type { CellPlan } from '../../../src/jail/plan/plan.ts'
import { encodePlan } from '../../../src/jail/plan/plan-records.ts'
import type { PlanRecord } from '../../../src/jail/plan/plan-records.ts'
import { planRestrictedCell } from '../../../src/jail/plan/restricted-plan.ts'
import { sourceFacts } from '../../../src/jail/view/source-facts.ts'
import { eventually } from '../../support/eventually.ts'

const reapMs = 5000

export interface RawFrame {
  readonly type: number
  readonly id: number
  readonly payload: Buffer
}

export class RawLauncher {
  readonly stub: ChildProcess
  readonly control: Duplex
  readonly report: Duplex
  readonly frames: RawFrame[] = []
  /** Resolves when the process has ended and both sockets are closed. */
  readonly ended: Promise<unknown>
  readonly #waiting: { readonly type: number; readonly found: (frame: RawFrame) => void }[] = []

  /** `through` is a command that finally executes the launcher. */
  constructor(through: readonly string[] = []) {
    const [file, ...args] = [...through, requireLauncher()]
    this.stub = spawn(file, args, {
      stdio: ['ignore', 'pipe', 'ignore', 'pipe', 'ignore'],
      env: {},
      cwd: '/',
    })
    const [, report, , control] = this.stub.stdio as unknown as Duplex[]
    this.report = report as Duplex
    this.control = control as Duplex
    for (const stream of [this.report, this.control]) this.#listen(stream)
    // Not events.once(), which rejects when a socket fails; here that counts as closed.
    const closed = (stream: Duplex) => new Promise<void>((resolve) => stream.once('close', resolve))
    this.ended = Promise.all([once(this.stub, 'exit'), closed(this.report), closed(this.control)])
  }

  send(type: number, id = 0, payload: Uint8Array = Buffer.alloc(0)): void {
    this.control.write(encodeFrame(type, id, payload))
  }

  /** The first frame of this type, even if it has already arrived. Undefined if the launcher ends without it. */
  async frame(type: number): Promise<RawFrame | undefined> {
    const arrived = this.frames.find((frame) => frame.type === type)
    if (arrived !== undefined) return arrived
    const coming = new Promise<RawFrame>((found) => this.#waiting.push({ type, found }))
    return Promise.race([coming, this.ended.then(() => undefined)])
  }

  #listen(stream: Duplex): void {
    const decoder = new FrameDecoder()
    stream.on('error', () => undefined)
    stream.on('data', (chunk: Buffer) => {
      for (const { type, id, payload } of decoder.push(chunk)) {
        const frame = { type, id, payload: Buffer.from(payload) }
        this.frames.push(frame)
        this.#waiting.filter((waiting) => waiting.type === type).forEach(({ found }) => found(frame))
      }
    })
  }
}

export interface Fault {
  /** The index of the plan's record; null if it concerns none. */
  readonly record: number | null
  readonly errno: number
  readonly step: string
}

export function readFault(frame: RawFrame | undefined): Fault | undefined {
  if (frame === undefined) return undefined
  const record = frame.payload.readUInt32LE(0)
  return {
    record: record === 0xffff_ffff ? null : record,
    errno: frame.payload.readUInt32LE(4),
    step: frame.payload.toString('utf8', 8),
  }
}

export interface LeasedLauncher extends AsyncDisposable {
  readonly launcher: RawLauncher
  readonly ground: LeasedGround
  readonly plan: CellPlan
  readonly place: Place
}

/** A launcher and ground for one cell with the strongest wall of this machine, all released at the end. */
export async function useLauncher(
  machine: Machine,
  through: readonly string[] = [],
): Promise<LeasedLauncher> {
  const ground = await machine.lease(defaultLimits)
  const launcher = new RawLauncher(through)
  const place = machine.choosePlace()
  const shape = { binds: [], network: 'none', place, diskBytes: 1024 * 1024 } as const
  const { work } = place
  const plan = work === null ? planCell(shape, ground, sourceFacts) : planRestrictedCell(shape, ground, work)
  return {
    launcher,
    ground,
    plan,
    place,
    async [Symbol.asyncDispose]() {
      // For the launcher, the end of both sockets is the end of the host.
      launcher.control.destroy()
      launcher.report.destroy()
      await launcher.ended
      // If a cell's stub has died, the machine's init reaps its killed processes, possibly late.
      await eventually(() => tryTo(() => ground.release()), reapMs)
      if (work !== null) rmSync(work, { recursive: true, force: true })
    },
  }
}

function tryTo(action: () => void): string | undefined {
  try {
    action()
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

export function sendPlan(launcher: RawLauncher, records: readonly PlanRecord[]): void {
  launcher.send(frameType.plan, 0, encodePlan(records))
}
