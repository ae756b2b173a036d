/** A fork of a zygote, parked in its cell as the pool does it, but without the pool. */
import { once } from 'node:events'
import type { Duplex } from 'node:stream'

import { defaultLimits } from '../../src/core/limits.ts'
import type { Limits } from '../../src/core/limits.ts'
import type { BuiltCell } from '../../src/jail/cell/build-cell.ts'
import type { ProcessReport } from '../../src/jail/cell/guest-process.ts'
import { planLimits } from '../../src/jail/limits/plan-limits.ts'
import type { Zygote } from '../../src/jail/cell/zygote-cell.ts'
import type { Exceeded } from '../../src/result/exit.ts'
import { encodeGuestRequest } from '../../src/runtimes/channel/message-frame.ts'
import { readStatus, requirePromises } from '../../src/runtimes/work/observed.ts'

export interface GuestAnswer {
  /** The text of the value, as the guest wrote it; data from a guest that shows JSON. */
  readonly value: unknown
  readonly messages: readonly Record<string, unknown>[]
}

export interface ParkOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly channel?: 'cell' | 'own'
}

export class ParkedGuest implements AsyncDisposable {
  readonly built: BuiltCell
  /** Its id in its cell. */
  readonly id: number
  readonly channel: Duplex
  readonly exited: Promise<ProcessReport>
  readonly exceeded: Exceeded[] = []
  /** Its status, as the kernel reports it. */
  readonly status: Readonly<Record<string, string>>
  output = ''

  private constructor(
    built: BuiltCell,
    parts: Pick<ParkedGuest, 'id' | 'channel' | 'exited' | 'exceeded' | 'status'>,
  ) {
    this.built = built
    this.id = parts.id
    this.channel = parts.channel
    this.exited = parts.exited
    this.exceeded = parts.exceeded
    this.status = parts.status
  }

  /** Rejects with the step that failed. Once it resolves, the plan's promises have been verified. */
  static async park(
    zygote: Zygote,
    limits: Limits = defaultLimits,
    { env = {}, channel = 'cell' }: ParkOptions = {},
  ): Promise<ParkedGuest> {
    const built = await zygote.build(limits)
    const { cell, ground, plan } = built
    const spawned = Promise.withResolvers<string>()
    const exited = Promise.withResolvers<ProcessReport>()
    const exceeded: Exceeded[] = []
    const output: string[] = []
    cell.ready.catch(spawned.reject)
    const { rlimits, watched, outputBytes, wallMs } = planLimits(limits, ground.limitGround, {
      runtimeDataBytes: 64 * 1024 * 1024,
      openFilesHard: 4096,
      processesHard: Number.MAX_SAFE_INTEGER,
      tcpMem: '',
    })
    const spec = {
      file: 'fork',
      argv: [],
      env: { PATH: '/usr/bin:/bin', HOME: '/workspace', USER: 'guest', LANG: 'C.UTF-8', TZ: 'UTC', ...env },
      folder: '/workspace',
      rlimits,
      channel,
      isFork: true,
      outputBytes,
      wallMs,
      watched,
    }
    const listener = {
      onSpawned: spawned.resolve,
      onOutput: (_stream: string, bytes: Buffer) => void output.push(bytes.toString()),
      onExceeded: (what: Exceeded) => void exceeded.push(what),
      onUsage: () => undefined,
      onExit: exited.resolve,
    }
    const id = cell.spawn(spec, listener, spawned.reject)
    const stream = channel === 'own' ? cell.channelOf(id) : cell.channel
    if (stream === null) throw new Error('A parked guest has a channel.')
    try {
      const status = readStatus(await spawned.promise)
      requirePromises(plan.promises, status)
      const guest = new ParkedGuest(built, { id, channel: stream, exited: exited.promise, exceeded, status })
      void exited.promise.then(() => (guest.output = output.join('')))
      return guest
    } catch (error) {
      await built.clean()
      throw error
    }
  }

  /** Runs the code and waits until the guest has ended. */
  async run(code: string): Promise<GuestAnswer> {
    const { channel } = this
    const chunks: Buffer[] = []
    channel.on('data', (chunk: Buffer) => chunks.push(chunk))
    channel.on('error', () => undefined) // from a guest that has ended without reading its request
    const closed = channel.closed ? undefined : once(channel, 'close')
    channel.write(encodeGuestRequest({ language: 'python', code, args: [], resultBytes: 1024 * 1024 }))
    await Promise.all([closed, this.exited])
    const messages = [...cut(Buffer.concat(chunks))]
    const { value } = messages.find(({ type }) => type === 'value') ?? {}
    return { value, messages }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.built.clean()
  }
}

function* cut(bytes: Buffer): Generator<Record<string, unknown>> {
  for (let at = 0; at + 4 <= bytes.length; at += 4 + bytes.readUInt32LE(at))
    yield JSON.parse(bytes.toString('utf8', at + 4, at + 4 + bytes.readUInt32LE(at))) as Record<
      string,
      unknown
    >
}
