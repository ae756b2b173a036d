/**
 * Tests that send frames directly to the pid 1 of a cell: whatever a host sends, no process is left behind.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { constants } from 'node:os'
import { after, before, describe, it } from 'node:test'

import { encodeFrame, frameBytesMax, frameType, inletCreditBytes } from '../../../src/jail/launch/frames.ts'
import type { BeginSpec } from '../../../src/jail/cell/guest-process.ts'
import type { Machine } from '../../../src/jail/machine/machine.ts'
import { collectorRlimits } from '../../../src/jail/limits/rlimits.ts'
import { decodeExit, encodeBegin, encodeSpawn } from '../../../src/jail/launch/spawn-frame.ts'
import { encodeWanted } from '../../../src/runtimes/collect/listing.ts'
import { readStatus, requirePromises } from '../../../src/runtimes/work/observed.ts'
import { eventually } from '../../support/eventually.ts'
import { findProcess, listDescendants } from '../../support/machine/processes.ts'
import { readFault, useLauncher } from '../launch/raw-launcher.ts'
import type { RawLauncher } from '../launch/raw-launcher.ts'
import { assertNothingLeft, build, probedMachine, spawnOf } from './raw-cell.ts'

const { errno } = constants
const { EPROTO, ENOENT } = errno

function beginWith(more: Partial<BeginSpec>): Buffer {
  const { outputBytes, wallMs, watched } = spawnOf('/bin/true')
  const nothing = { rlimits: [], stdin: Buffer.alloc(0), work: null, resized: [] }
  return encodeBegin({ outputBytes, wallMs, watched, ...nothing, ...more })
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}

/** The output on both streams, in the order of arrival. */
function printed({ frames }: RawLauncher): string {
  const output = frames.filter(({ type }) => type === frameType.output)
  return output.map(({ payload }) => payload.toString('latin1', 1)).join('')
}

describe('the launcher as pid 1', () => {
  let machine: Machine
  before(async () => {
    machine = await probedMachine()
  })
  after(() => machine[Symbol.asyncDispose]())

  const begin = beginWith({})
  const malformed: Readonly<Record<string, Buffer>> = {
    'a frame of an unknown type': encodeFrame(63, 0),
    'a frame that only it may send': encodeFrame(frameType.exit, 1, Buffer.alloc(46)),
    'a second plan': encodeFrame(frameType.plan, 0),
    'a frame longer than its bound': Buffer.from([
      ...new Uint8Array(new Uint32Array([frameBytesMax + 1]).buffer),
      frameType.put,
      0,
      0,
      0,
      0,
    ]),
    'a spawn that is cut off': encodeFrame(
      frameType.spawn,
      1,
      encodeSpawn(spawnOf('/bin/true')).subarray(0, 30),
    ),
    'a spawn with bytes to spare': encodeFrame(
      frameType.spawn,
      1,
      Buffer.concat([encodeSpawn(spawnOf('/bin/true')), Buffer.alloc(1)]),
    ),
    'a spawn with flags that nobody knows': encodeFrame(
      frameType.spawn,
      1,
      withFlags(encodeSpawn(spawnOf('/bin/true'))),
    ),
    'a file whose name has no end': encodeFrame(
      frameType.put,
      0,
      Buffer.from([1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0x61]),
    ),
    'an empty file frame': encodeFrame(frameType.put, 0),
    'an empty begin': encodeFrame(frameType.begin, 9),
    'a begin that is cut off': encodeFrame(frameType.begin, 9, begin.subarray(0, -1)),
    'a begin with bytes to spare': encodeFrame(frameType.begin, 9, Buffer.concat([begin, Buffer.alloc(1)])),
    'a begin with more rlimits than there is room for': encodeFrame(
      frameType.begin,
      9,
      beginWith({ rlimits: Array.from({ length: 17 }, () => ({ resource: 7, soft: 1, hard: 1 })) }),
    ),
    'a begin with more mounts than there is room for': encodeFrame(
      frameType.begin,
      9,
      beginWith({ resized: Array.from({ length: 9 }, () => ({ path: '/tmp', flags: 0, options: '' })) }),
    ),
    'two things on descriptor 3': encodeFrame(
      frameType.spawn,
      1,
      encodeSpawn({ ...spawnOf('/bin/true'), channel: 'own', hasState: true }),
    ),
    'a hold of nothing that it knows': encodeFrame(frameType.hold, 9, u32(4)),
    'an empty hold': encodeFrame(frameType.hold, 9),
    'more for a channel than there is credit': encodeFrame(
      frameType.channel,
      9,
      Buffer.alloc(inletCreditBytes + 1),
    ),
    'an end of a channel with bytes to spare': encodeFrame(frameType.channelEnd, 9, Buffer.alloc(1)),
    'a close of a channel with bytes to spare': encodeFrame(frameType.channelClose, 9, Buffer.alloc(1)),
    'an empty finish': encodeFrame(frameType.finish, 9),
    'a finish with an exit code that no process has': encodeFrame(frameType.finish, 9, u32(256)),
    'a finish with bytes to spare': encodeFrame(frameType.finish, 9, Buffer.alloc(5)),
    'a finish of nobody with an exit code that no process has': encodeFrame(frameType.finish, 8, u32(256)),
  }
  for (const [name, bytes] of Object.entries(malformed)) {
    it(`is ended by ${name}, with a fault and with all its guests`, async () => {
      await using cell = await useLauncher(machine)
      const { launcher, plan } = cell
      const pid1 = await build(launcher, plan.records)
      launcher.send(frameType.spawn, 9, encodeSpawn(spawnOf('/bin/sleep', 'infinity')))
      await launcher.frame(frameType.spawned)
      launcher.control.write(bytes)
      assert.deepEqual(readFault(await launcher.frame(frameType.fault)), {
        record: plan.records.length - 1,
        errno: EPROTO,
        step: 'parse a frame',
      })
      await assertNothingLeft(launcher, pid1)
    })
  }

  it('is ended by a second process with the same number', async () => {
    await using cell = await useLauncher(machine)
    const { launcher, plan } = cell
    const pid1 = await build(launcher, plan.records)
    const sleep = encodeSpawn(spawnOf('/bin/sleep', 'infinity'))
    launcher.control.write(
      Buffer.concat([encodeFrame(frameType.spawn, 1, sleep), encodeFrame(frameType.spawn, 1, sleep)]),
    )
    assert.equal(readFault(await launcher.frame(frameType.fault))?.step, 'parse a frame')
    await assertNothingLeft(launcher, pid1)
  })

  it('writes no file where guests cannot write, and none through `..`', async () => {
    for (const path of [
      '/etc/passwd',
      '/usr/bin/sh',
      '/workspace/../etc/x',
      '/workspace//x',
      'workspace/x',
      '/proc/sys/kernel/hostname',
    ]) {
      await using cell = await useLauncher(machine)
      const { launcher, plan } = cell
      const pid1 = await build(launcher, plan.records)
      launcher.send(frameType.put, 0, putPayload(path))
      assert.equal(readFault(await launcher.frame(frameType.fault))?.step, 'create a file', path)
      await assertNothingLeft(launcher, pid1)
    }
  })

  it('reports which step of starting a program failed, and continues', async () => {
    await using cell = await useLauncher(machine)
    const { launcher, plan } = cell
    await build(launcher, plan.records)
    launcher.send(frameType.spawn, 1, encodeSpawn(spawnOf('/no/such/program')))
    assert.deepEqual(readFault(await launcher.frame(frameType.fault)), {
      record: null,
      errno: ENOENT,
      step: 'execute the program',
    })
    launcher.send(frameType.spawn, 2, encodeSpawn(spawnOf('/bin/true')))
    assert.equal((await launcher.frame(frameType.spawned))?.id, 2)
  })

  it('kills all guests on request, and says so when none of them is alive', async () => {
    await using cell = await useLauncher(machine)
    const { launcher, plan } = cell
    const pid1 = await build(launcher, plan.records)
    const stubborn = 'trap "" TERM HUP INT; sleep infinity'
    const tree = `for i in 1 2 3; do (setsid sh -c '${stubborn} & ${stubborn}' &); done; echo up; ${stubborn}`
    launcher.send(frameType.spawn, 1, encodeSpawn(spawnOf('/bin/sh', '-c', tree)))
    await launcher.frame(frameType.output)
    assert.ok(listDescendants(pid1).length > 0)
    launcher.send(frameType.killAll)
    assert.ok(await launcher.frame(frameType.alone))
    assert.deepEqual(listDescendants(pid1), [])
    // It answers at once if no process is left to wait for.
    launcher.frames.length = 0
    launcher.send(frameType.killAll)
    assert.ok(await launcher.frame(frameType.alone))
  })

  it('begins the run of a parked guest with new limits and stdin, and starts its time', async () => {
    await using cell = await useLauncher(machine)
    const { launcher, plan } = cell
    await build(launcher, plan.records)
    const program = 'read -r line; echo "$line"; ulimit -n; while read -r line; do :; done; sleep infinity'
    const waiting = { ...spawnOf('/bin/sh', '-c', program), stdin: 'later', wallMs: 0 } as const
    launcher.send(frameType.spawn, 1, encodeSpawn(waiting))
    const first = await launcher.frame(frameType.spawned)
    launcher.frames.length = 0
    // For a guest that no longer exists: it had ended when the host sent this.
    launcher.send(frameType.begin, 2, begin)
    const rlimits = [{ resource: 7, soft: 20, hard: 20 }]
    launcher.send(frameType.begin, 1, beginWith({ rlimits, wallMs: 1000 }))
    launcher.send(frameType.stdin, 1, Buffer.from('late\n'))
    launcher.send(frameType.stdinEnd, 1)
    const again = await launcher.frame(frameType.spawned)
    assert.deepEqual([again?.id, again?.payload.subarray(0, 4)], [1, first?.payload.subarray(0, 4)])
    const exceeded = await launcher.frame(frameType.exceeded)
    assert.equal(exceeded?.payload.readUInt32LE(0), 5)
    const { end, elapsedMs } = decodeExit((await launcher.frame(frameType.exit))?.payload ?? Buffer.alloc(0))
    assert.deepEqual(end, { by: 'signal', signal: 'SIGKILL' })
    assert.ok(elapsedMs >= 1000, `${elapsedMs} ms`)
    assert.equal(printed(launcher), 'late\n20\n')
  })

  it('passes on what fits into the output limit, to the byte, and kills a guest that prints more', async () => {
    await using cell = await useLauncher(machine)
    const { launcher, plan } = cell
    await build(launcher, plan.records)
    const print = (id: number, bytes: number) =>
      launcher.send(
        frameType.spawn,
        id,
        encodeSpawn(spawnOf('/bin/sh', '-c', `printf %0${bytes}d 0; (sleep infinity) & exit 3`)),
      )
    print(1, 1000)
    const exit = decodeExit((await launcher.frame(frameType.exit))?.payload ?? Buffer.alloc(0))
    assert.deepEqual(exit.end, { by: 'exit', exitCode: 3 })
    assert.equal(printed(launcher).length, 1000)
    launcher.frames.length = 0
    print(2, 1001)
    const exceeded = await launcher.frame(frameType.exceeded)
    assert.deepEqual([exceeded?.id, exceeded?.payload.readUInt32LE(0)], [2, 1])
    await launcher.frame(frameType.exit)
    assert.equal(printed(launcher).length, 1000)
    launcher.send(frameType.killAll)
    assert.ok(await launcher.frame(frameType.alone))
  })

  it('is ended by a begin that would raise a limit, with all its guests', async () => {
    await using cell = await useLauncher(machine)
    const { launcher, plan } = cell
    const pid1 = await build(launcher, plan.records)
    launcher.send(frameType.spawn, 1, encodeSpawn(spawnOf('/bin/sleep', 'infinity')))
    await launcher.frame(frameType.spawned)
    launcher.send(frameType.begin, 1, beginWith({ rlimits: [{ resource: 7, soft: 1e6, hard: 1e6 }] }))
    const fault = readFault(await launcher.frame(frameType.fault))
    assert.deepEqual([fault?.step, fault?.errno], ['set the rlimits of a guest', errno.EPERM])
    await assertNothingLeft(launcher, pid1)
  })

  it('reports a guest that the host has declared finished, with that exit code and its output, and kills all guests', async () => {
    await using cell = await useLauncher(machine)
    const { launcher, plan } = cell
    const pid1 = await build(launcher, plan.records)
    const program =
      '(trap "" TERM; sleep infinity; echo late) & printf before; echo >&2; sleep infinity; echo late'
    launcher.send(frameType.spawn, 1, encodeSpawn(spawnOf('/bin/sh', '-c', program)))
    await eventually(() => (printed(launcher).length > 6 ? undefined : printed(launcher)), 5000)
    launcher.send(frameType.finish, 2, u32(1)) // an unknown guest
    launcher.send(frameType.finish, 1, u32(255))
    launcher.send(frameType.finish, 1, u32(0))
    launcher.send(frameType.begin, 1, begin)
    const exit = decodeExit((await launcher.frame(frameType.exit))?.payload ?? Buffer.alloc(0))
    assert.deepEqual(exit.end, { by: 'exit', exitCode: 255 })
    assert.ok(exit.elapsedMs > 0)
    launcher.send(frameType.killAll)
    assert.ok(await launcher.frame(frameType.alone))
    assert.deepEqual(listDescendants(pid1), [])
    assert.equal(printed(launcher), 'before\n')
    assert.equal(launcher.frames.filter(({ type }) => type === frameType.exit).length, 1)
    assert.equal(launcher.frames.filter(({ type }) => type === frameType.fault).length, 0)
  })

  it('reads only regular files for the host, as a process without rights', async () => {
    await using cell = await useLauncher(machine)
    const { launcher, plan, place } = cell
    await build(launcher, plan.records)
    const folder = place.workspace
    const make = 'printf 12345 > file; ln -s file link; mkfifo pipe; mkdir folder'
    launcher.send(frameType.spawn, 1, encodeSpawn({ ...spawnOf('/bin/sh', '-c', make), folder }))
    await launcher.frame(frameType.exit)
    launcher.frames.length = 0
    const names = ['file', 'link', 'pipe', 'folder', '/etc/passwd', '../etc/passwd', 'none']
    const stdin = encodeWanted(names.map((path) => ({ path, bytes: 3 })))
    const collector = {
      ...spawnOf('read'),
      folder,
      argv: [],
      stdin,
      isCollector: true,
      rlimits: collectorRlimits,
    }
    launcher.send(frameType.spawn, 2, encodeSpawn(collector))
    launcher.send(frameType.stdin, 2, stdin)
    launcher.send(frameType.stdinEnd, 2)
    const spawned = await launcher.frame(frameType.spawned)
    requirePromises(plan.promises, readStatus(spawned?.payload.toString('latin1', 4) ?? ''))
    await launcher.frame(frameType.exit)
    const output = launcher.frames
      .filter(({ type }) => type === frameType.output)
      .map(({ payload }) => payload.subarray(1))
    const word = (value: number) => Buffer.from(Uint32Array.of(value).buffer)
    const content = [word(0), word(3), Buffer.from('123'), word(0)]
    const refusals = [errno.ELOOP, errno.EINVAL, errno.EINVAL, errno.EXDEV, errno.EXDEV, errno.ENOENT]
    assert.deepEqual(Buffer.concat(output), Buffer.concat([...content, ...refusals.map(word)]))
  })

  it('ends with its guests when the host’s control socket ends', async () => {
    await using cell = await useLauncher(machine)
    const { launcher, plan } = cell
    const pid1 = await build(launcher, plan.records)
    launcher.send(frameType.spawn, 1, encodeSpawn(spawnOf('/bin/sleep', 'infinity')))
    await launcher.frame(frameType.spawned)
    launcher.control.end()
    await assertNothingLeft(launcher, pid1)
    assert.ok(launcher.frames.some(({ type }) => type === frameType.gone))
  })

  it('ends with its guests when its stub is killed', async () => {
    await using cell = await useLauncher(machine)
    const { launcher, plan } = cell
    const pid1 = await build(launcher, plan.records)
    launcher.send(frameType.spawn, 1, encodeSpawn(spawnOf('/bin/sleep', 'infinity')))
    await launcher.frame(frameType.spawned)
    const exited = once(launcher.stub, 'exit')
    launcher.stub.kill('SIGKILL')
    await exited
    // No process of the cell is left to reap it, so no event reports its end.
    await eventually(
      () =>
        /^[ZX]$/.test(findProcess(pid1)?.state ?? 'X') ? undefined : `pid 1 is ${findProcess(pid1)?.state}`,
      5000,
    )
  })

  it('ends if the stub receives a single byte, and the stub reports its usage', async () => {
    await using cell = await useLauncher(machine)
    const { launcher, plan } = cell
    const pid1 = await build(launcher, plan.records)
    launcher.report.write('k')
    assert.equal((await launcher.frame(frameType.gone))?.payload.length, 28)
    await assertNothingLeft(launcher, pid1)
  })
})

function withFlags(spawn: Buffer): Buffer {
  const bytes = Buffer.from(spawn)
  bytes.writeUInt32LE(0x8000_0000, 0)
  return bytes
}

function putPayload(path: string): Buffer {
  const name = Buffer.from(`${path}\0`)
  const head = Buffer.alloc(12)
  head.writeUInt32LE(1, 0)
  head.writeUInt32LE(0o644, 4)
  head.writeUInt32LE(name.length, 8)
  return Buffer.concat([head, name, Buffer.alloc(4)])
}
