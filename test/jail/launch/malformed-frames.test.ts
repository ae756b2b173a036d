/**
 * Malformed frames, as real bytes on real sockets. A launcher that receives one reports a fault and ends its cell. A
 * host that receives one ends the cell, too, and no bytes of a launcher cause an uncaught exception.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { after, before, describe, it } from 'node:test'

import fc from '../../support/fast-check.ts'

import { Cell } from '../../../src/jail/cell/cell.ts'
import { encodeFrame, frameBytesMax, frameHeaderBytes, frameType } from '../../../src/jail/launch/frames.ts'
import { Machine } from '../../../src/jail/machine/machine.ts'
import { encodeBegin, encodeSpawn } from '../../../src/jail/launch/spawn-frame.ts'
import { defaultUidRange } from '../../../src/jail/machine/uid-range.ts'
import { readFault, sendPlan, useLauncher } from './raw-launcher.ts'
import { unwatched } from '../../../src/jail/limits/limit-rows.ts'

const spec = {
  file: '/bin/sh',
  argv: ['sh', '-c', 'cat'],
  env: { HOME: '/workspace' },
  folder: '/workspace',
  rlimits: [{ resource: 7, soft: 64, hard: 64 }],
  wallMs: 0,
  outputBytes: 100,
  watched: unwatched,
}
const put = Buffer.from([
  ...[1, 0, 0, 0],
  ...[0xa4, 1, 0, 0],
  ...[8, 0, 0, 0],
  ...Buffer.from('/tmp/ab\0'),
  ...[1, 0, 0, 0, 0x78],
])

const begin = encodeBegin({
  ...spec,
  rlimits: [{ resource: 7, soft: 32, hard: 32 }],
  stdin: Buffer.alloc(0),
  work: null,
  resized: [],
})

/** The frames that a host sends to a complete cell, as one stream. */
const honest = Buffer.concat([
  encodeFrame(frameType.put, 0, put),
  encodeFrame(frameType.spawn, 1, encodeSpawn({ ...spec, stdin: Buffer.from('hello') })),
  encodeFrame(frameType.stdin, 1, Buffer.from('hello')),
  encodeFrame(frameType.spawn, 2, encodeSpawn({ ...spec, channel: 'own' })),
  encodeFrame(frameType.channel, 2, Buffer.from('hello')),
  encodeFrame(frameType.hold, 2, Buffer.from([2, 0, 0, 0])),
  encodeFrame(frameType.channelEnd, 2),
  encodeFrame(frameType.channelClose, 2),
  encodeFrame(frameType.signal, 1, Buffer.from([18, 0, 0, 0])),
  encodeFrame(frameType.begin, 1, begin),
  encodeFrame(frameType.stdinEnd, 1),
  encodeFrame(frameType.finish, 1, Buffer.from([3, 0, 0, 0])),
  encodeFrame(frameType.killAll, 0),
])

const change = fc.record({ at: fc.nat(honest.length - 1), to: fc.nat(255), isCut: fc.boolean() })
describe('a launcher that gets malformed frames', () => {
  let machine: Machine
  before(() => {
    machine = new Machine({ uidRange: defaultUidRange })
  })
  after(() => machine[Symbol.asyncDispose]())

  it('ends with a fault or continues, and never dies of a signal', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 4 }), async (changes) => {
        const bytes = changes.reduce((stream, { at, to, isCut }) => {
          const place = Math.min(at, stream.length - 1)
          if (isCut) return Buffer.concat([stream.subarray(0, place), stream.subarray(place + 1)])
          return Buffer.concat([stream.subarray(0, place), Buffer.from([to]), stream.subarray(place + 1)])
        }, honest)
        await using cell = await useLauncher(machine)
        const { launcher, plan } = cell
        sendPlan(launcher, plan.records)
        assert.ok(await launcher.frame(frameType.ready))
        launcher.control.write(bytes)
        launcher.control.end()
        const gone = await launcher.frame(frameType.gone)
        // Wait status 0: it has read the end of the socket or FRAME_END. 256: it has reported a fault and exited.
        const status = gone?.payload.readUInt32LE(0)
        const fault = readFault(launcher.frames.find(({ type, id }) => type === frameType.fault && id === 0))
        assert.ok(
          status === 0 || (status === 256 && fault !== undefined),
          `${status} ${JSON.stringify(fault)}`,
        )
      }),
      { numRuns: 60 },
    )
  })
})

interface Lie {
  readonly control: Uint8Array
  readonly report?: Uint8Array
  /** It stays alive until the host ends it. */
  readonly waits: boolean
}

/** A launcher that sends the given bytes on both sockets. */
function startLiar(folder: string, { control, report = Buffer.alloc(0), waits }: Lie): Cell {
  writeFileSync(join(folder, 'control'), control)
  writeFileSync(join(folder, 'report'), report)
  // It never reads what the host sends, so it keeps the socket open: closing it would reset the connection with the lie
  // unread.
  const send = 'cat control >&3; cat report >&1'
  const child = spawn('/bin/sh', ['-c', waits ? `${send}; cat <&1 >/dev/null` : send], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'ignore', 'pipe', 'ignore'],
  })
  const [, reportSocket, , controlSocket] = child.stdio as unknown as Duplex[]
  return new Cell({
    report: reportSocket as Duplex,
    control: controlSocket as Duplex,
    channel: null,
    ended: new Promise((resolve) => child.once('exit', () => resolve(undefined))),
    hold: () => undefined,
    kill: () => void child.kill('SIGKILL'),
  })
}

describe('a host that gets malformed frames', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lazaret-liar-'))
  after(() => rmSync(folder, { recursive: true, force: true }))
  const ready = encodeFrame(frameType.ready, 0, Buffer.from('landlock_abi=1\n'))
  const tooLong = Buffer.alloc(frameHeaderBytes)
  tooLong.writeUInt32LE(frameBytesMax + 1)
  tooLong.writeUInt8(frameType.output, 4)
  const silent = {
    onSpawned: () => undefined,
    onOutput: () => undefined,
    onExceeded: () => undefined,
    onUsage: () => undefined,
    onExit: () => undefined,
  }

  const lies: Readonly<Record<string, Buffer>> = {
    'a frame that is longer than the bound': tooLong,
    'a fault without a record': encodeFrame(frameType.fault, 0, Buffer.alloc(3)),
    'a birth without a pid': encodeFrame(frameType.born, 0),
    'an end that is cut off': encodeFrame(frameType.gone, 0, Buffer.alloc(20)),
  }
  for (const [name, bytes] of Object.entries(lies)) {
    it(`refuses ${name}, and ends the cell`, async () => {
      const cell = startLiar(folder, { control: bytes, waits: true })
      await assert.rejects(cell.ready, /an invalid frame/)
      await cell.gone
    })
  }

  for (const type of ['exit', 'stdinTaken', 'channelTaken', 'exceeded', 'usage'] as const) {
    it(`ends the cell of a guest whose ${type} frame is too short`, async () => {
      const cell = startLiar(folder, {
        control: Buffer.concat([ready, encodeFrame(frameType[type], 1, Buffer.alloc(2))]),
        waits: true,
      })
      cell.spawn({ ...spec, channel: 'own', stdin: Buffer.from('x') }, silent, () => undefined)
      await cell.gone
    })
  }

  it('survives any bytes on both sockets', async () => {
    const types = Object.values(frameType)
    const frame = fc
      .tuple(fc.constantFrom(...types), fc.nat(2), fc.uint8Array({ maxLength: 60 }))
      .map(([type, id, payload]) => encodeFrame(type, id, payload))
    const noise = fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes))
    const stream = fc.array(fc.oneof({ arbitrary: frame, weight: 4 }, noise), { maxLength: 8 })
    await fc.assert(
      fc.asyncProperty(stream, stream, async (control, report) => {
        const cell = startLiar(folder, {
          control: Buffer.concat(control),
          report: Buffer.concat(report),
          waits: false,
        })
        const id = cell.spawn({ ...spec, channel: 'own', stdin: Buffer.from('x') }, silent, () => undefined)
        cell.channelOf(id)?.resume().write('x')
        await cell.gone
      }),
      { numRuns: 60 },
    )
  })
})
