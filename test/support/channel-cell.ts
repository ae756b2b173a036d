/** A cell like that of every run, with Python guests that have their own channels. */
import { once } from 'node:events'
import type { Duplex } from 'node:stream'

import { systemClock } from '../../src/core/clock.ts'
import { defaultLimits } from '../../src/core/limits.ts'
import type { Limits } from '../../src/core/limits.ts'
import { probeMachine } from '../../src/engine/probe.ts'
import { buildCell } from '../../src/jail/cell/build-cell.ts'
import type { BuiltCell } from '../../src/jail/cell/build-cell.ts'
import type { ProcessReport, SpawnSpec } from '../../src/jail/cell/guest-process.ts'
import { unwatched } from '../../src/jail/limits/limit-rows.ts'
import { planLimits } from '../../src/jail/limits/plan-limits.ts'
import { Machine } from '../../src/jail/machine/machine.ts'
import { defaultUidRange } from '../../src/jail/machine/uid-range.ts'
import { Toolchains } from '../../src/runtimes/packages/toolchains.ts'

export const guestPython = '/usr/bin/python3'

/** Precedes a guest's own code: `channel` is the guest's end, and `take(count)` reads `count` bytes, or to the end. */
const prelude = `
import os, socket, sys, time
channel = socket.socket(fileno=3)
def take(count):
    pieces = []
    while count > 0:
        piece = channel.recv(min(count, 65536))
        if not piece: break
        pieces.append(piece)
        count -= len(piece)
    return b''.join(pieces)
`

export interface ChannelGuest {
  readonly id: number
  readonly channel: Duplex
  readonly spawned: Promise<unknown>
  readonly exited: Promise<ProcessReport>
  readonly output: string
}

export class ChannelCell implements AsyncDisposable {
  readonly built: BuiltCell
  readonly #machine: Machine

  readonly #limits: Limits

  private constructor(machine: Machine, limits: Limits, built: BuiltCell) {
    this.#machine = machine
    this.#limits = limits
    this.built = built
  }

  static async open(more: Partial<Limits> = {}, hasChannel = false): Promise<ChannelCell> {
    const machine = new Machine({ uidRange: defaultUidRange })
    // Finds out which layers this machine offers.
    await probeMachine({ machine, minimum: 'restricted', onRefusal() {} }, new Toolchains())
    const place = machine.choosePlace()
    const limits = { ...defaultLimits, ...more }
    const shape = { binds: [], network: 'none', place, diskBytes: 1024 * 1024 } as const
    const built = await buildCell({ shape, limits, hasChannel }, machine, systemClock)
    await built.cell.ready
    return new ChannelCell(machine, limits, built)
  }

  spawn(code: string, more: Partial<SpawnSpec> = {}): ChannelGuest {
    const { cell, ground } = this.built
    const figures = this.#machine.limitFigures
    const spec: SpawnSpec = {
      file: guestPython,
      argv: ['python3', '-I', '-S', '-c', `${prelude}\n${code}`],
      env: {},
      folder: '/',
      rlimits: planLimits(this.#limits, ground.limitGround, figures).rlimits,
      channel: 'own',
      dropsExcess: true,
      wallMs: 0,
      outputBytes: 1024 * 1024,
      watched: unwatched,
      ...more,
    }
    const spawned = Promise.withResolvers<unknown>()
    const exited = Promise.withResolvers<ProcessReport>()
    for (const { promise } of [spawned, exited]) promise.catch(() => undefined)
    const output: string[] = []
    const listener = {
      onSpawned: spawned.resolve,
      onOutput: (_stream: string, bytes: Buffer) => void output.push(bytes.toString()),
      onExceeded: () => undefined,
      onUsage: () => undefined,
      onExit: exited.resolve,
      onLost: () => exited.reject(new Error('lost')),
    }
    const id = cell.spawn(spec, listener, ({ step }) => {
      spawned.reject(new Error(step))
      exited.reject(new Error(step))
    })
    const channel = spec.channel === 'own' ? cell.channelOf(id) : cell.channel
    if (channel === null) throw new Error('It was asked for a channel.')
    return {
      id,
      channel,
      spawned: spawned.promise,
      exited: exited.promise,
      get output() {
        return output.join('')
      },
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.built.clean()
    await this.#machine[Symbol.asyncDispose]()
  }
}

/** Reads to the end. */
export async function readAll(channel: AsyncIterable<Buffer>): Promise<Buffer> {
  const pieces: Buffer[] = []
  for await (const piece of channel) pieces.push(piece)
  return Buffer.concat(pieces)
}

/** At least `count` bytes. */
export async function readSome(channel: Duplex, count: number): Promise<Buffer> {
  const pieces: Buffer[] = []
  for (let length = 0; length < count;) {
    const piece = channel.read() as Buffer | null
    if (piece !== null) length += pieces.push(piece) && piece.length
    else if (channel.readableEnded || channel.destroyed) break
    else await once(channel, 'readable')
  }
  return Buffer.concat(pieces)
}
