/**
 * Tests that send frames directly to the launcher: whatever a host sends, no process is left behind and no step is
 * skipped.
 */
import assert from 'node:assert/strict'
import { constants } from 'node:os'
import { after, before, describe, it } from 'node:test'

import { defaultLimits } from '../../../src/core/limits.ts'
import {
  encodeFrame,
  frameBytesMax,
  frameHeaderBytes,
  frameType,
  inletCreditBytes,
} from '../../../src/jail/launch/frames.ts'
import type { BeginSpec, SpawnSpec } from '../../../src/jail/cell/guest-process.ts'
import { probeMachine } from '../../../src/engine/probe.ts'
import { Machine } from '../../../src/jail/machine/machine.ts'
import { recordNames } from '../../../src/jail/plan/plan-records.ts'
import type { PlanRecord } from '../../../src/jail/plan/plan-records.ts'
import { unwatched } from '../../../src/jail/limits/limit-rows.ts'
import { planLimits } from '../../../src/jail/limits/plan-limits.ts'
import { collectorRlimits } from '../../../src/jail/limits/rlimits.ts'
import { decodeExit, encodeBegin, encodeSpawn } from '../../../src/jail/launch/spawn-frame.ts'
import { defaultUidRange } from '../../../src/jail/machine/uid-range.ts'
import { encodeWanted } from '../../../src/runtimes/collect/listing.ts'
import { readStatus, requirePromises } from '../../../src/runtimes/work/observed.ts'
import { Toolchains } from '../../../src/runtimes/packages/toolchains.ts'
import { eventually } from '../../support/eventually.ts'
import { findProcess, listDescendants } from '../../support/machine/processes.ts'
import { readFault, sendPlan, useLauncher } from '../launch/raw-launcher.ts'
import type { RawLauncher } from '../launch/raw-launcher.ts'

const { errno } = constants
const { EPROTO, ENOENT } = errno

function spawnOf(file: string, ...argv: readonly string[]): SpawnSpec {
  const ground = { level: 'standard', cgroupVersion: 1, identity: 'shared' } as const
  const figures = { openFilesHard: 1024, processesHard: 1024, tcpMem: '' }
  const { rlimits } = planLimits({ ...defaultLimits, processesMax: 500 }, ground, figures)
  return {
    file,
    argv: [file, ...argv],
    env: {},
    folder: '/',
    rlimits,
    wallMs: 0,
    outputBytes: 1000,
    watched: unwatched,
  }
}

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

/** Builds the cell, and returns its pid 1's pid on the host. */
async function build(launcher: RawLauncher, records: readonly PlanRecord[]): Promise<number> {
  sendPlan(launcher, records)
  const ready = await launcher.frame(frameType.ready)
  if (ready === undefined)
    assert.fail(`no cell: ${JSON.stringify(readFault(await launcher.frame(frameType.fault)))}`)
  return Number((await launcher.frame(frameType.born))?.payload.readUInt32LE(0))
}

/** The output on both streams, in the order of arrival. */
function printed({ frames }: RawLauncher): string {
  const output = frames.filter(({ type }) => type === frameType.output)
  return output.map(({ payload }) => payload.toString('latin1', 1)).join('')
}

/** Checks that all processes of the launcher have ended, including pid 1. */
async function assertNothingLeft(launcher: RawLauncher, pid1?: number): Promise<void> {
  await launcher.ended
  assert.equal(findProcess(Number(launcher.stub.pid))?.state ?? 'gone', 'gone')
  if (pid1 !== undefined) assert.equal(findProcess(pid1)?.state ?? 'gone', 'gone')
}

describe('the launcher', () => {
  let machine: Machine
  before(async () => {
    machine = new Machine({ uidRange: defaultUidRange })
    // Finds out which layers this machine offers.
    await probeMachine({ machine, minimum: 'restricted', onRefusal() {} }, new Toolchains())
  })
  after(() => machine[Symbol.asyncDispose]())

  it('builds a cell, runs a program in it and reports its output and its end', async () => {
    await using cell = await useLauncher(machine)
    const { launcher, plan } = cell
    const pid1 = await build(launcher, plan.records)
    launcher.send(frameType.spawn, 7, encodeSpawn(spawnOf('/bin/sh', '-c', 'echo $PPID; exit 3')))
    const exit = await launcher.frame(frameType.exit)
    assert.deepEqual(
      { id: exit?.id, signalled: exit?.payload[0], code: exit?.payload.readUInt32LE(1) },
      { id: 7, signalled: 0, code: 3 },
    )
    const output = launcher.frames.find(({ type }) => type === frameType.output)
    // Without a pid namespace the parent, the warden, has its pid of the host.
    assert.equal(output?.payload.toString('latin1'), `\u0001${plan.wall === 'namespaces' ? 1 : pid1}\n`)
  })

  describe('before there is a plan', () => {
    const header = (length: number, type: number) => {
      const bytes = Buffer.alloc(frameHeaderBytes)
      bytes.writeUInt32LE(length)
      bytes.writeUInt8(type, 4)
      return bytes
    }
    const nonsense: Readonly<Record<string, Buffer>> = {
      'a frame that is no plan': encodeFrame(frameType.spawn, 1),
      'a plan longer than its bound': header(0xffff_ffff, frameType.plan),
      'a plan that begins with zeros': encodeFrame(frameType.plan, 0, Buffer.alloc(8)),
      'a record that no launcher knows': encodeFrame(frameType.plan, 0, record(recordNames.length + 1)),
      'a record longer than the plan': encodeFrame(
        frameType.plan,
        0,
        record(recordNames.indexOf('hostname') + 1, 100),
      ),
      'half the head of a record': encodeFrame(frameType.plan, 0, Buffer.from([1, 0])),
      'a record with bytes to spare': encodeFrame(
        frameType.plan,
        0,
        record(recordNames.indexOf('guest-ids') + 1, 12, 12),
      ),
      'an empty plan': encodeFrame(frameType.plan, 0),
    }
    for (const [name, bytes] of Object.entries(nonsense)) {
      it(`refuses ${name} with a fault, and ends`, async () => {
        await using cell = await useLauncher(machine)
        cell.launcher.control.write(bytes)
        const fault = readFault(await cell.launcher.frame(frameType.fault))
        assert.equal(fault?.errno, EPROTO, JSON.stringify(fault))
        await assertNothingLeft(cell.launcher)
      })
    }

    it('ends when the host goes away', async () => {
      await using cell = await useLauncher(machine)
      cell.launcher.control.end()
      await assertNothingLeft(cell.launcher)
      assert.deepEqual(cell.launcher.frames, [])
    })
  })

  describe('while it builds', () => {
    it('names the record and the errno of a step that fails, and runs nothing after it', async () => {
      await using cell = await useLauncher(machine)
      const { launcher, plan } = cell
      const hasMounts = plan.wall === 'namespaces'
      const at = plan.records.findIndex((candidate) => candidate.do === (hasMounts ? 'bind' : 'confine'))
      const failing: PlanRecord = hasMounts
        ? { do: 'mount', type: 'tmpfs', path: 'not/there', flags: 0, options: '' }
        : { do: 'directory', path: 'not/there', mode: 0o755 }
      sendPlan(launcher, plan.records.toSpliced(at, 0, failing))
      launcher.send(frameType.spawn, 1, encodeSpawn(spawnOf('/bin/true')))
      assert.deepEqual(readFault(await launcher.frame(frameType.fault)), {
        record: at,
        errno: ENOENT,
        step: hasMounts ? 'mount a file system' : 'make a folder',
      })
      await assertNothingLeft(launcher)
      const types = launcher.frames.map(({ type }) => type)
      assert.ok(!types.includes(frameType.ready) && !types.includes(frameType.spawned), types.join())
    })

    it('refuses a plan without a system call filter when a guest is to start', async () => {
      await using cell = await useLauncher(machine)
      const { launcher, plan } = cell
      await build(
        launcher,
        plan.records.filter((candidate) => candidate.do !== 'guest-filter'),
      )
      launcher.send(frameType.spawn, 1, encodeSpawn(spawnOf('/bin/true')))
      assert.deepEqual(readFault(await launcher.frame(frameType.fault)), {
        record: null,
        errno: EPROTO,
        step: 'apply seccomp',
      })
    })

    it('refuses a plan that does not end with serve', async () => {
      await using cell = await useLauncher(machine)
      const { launcher, plan } = cell
      sendPlan(launcher, plan.records.slice(0, -1))
      assert.equal(readFault(await launcher.frame(frameType.fault))?.step, 'the plan does not end in serve')
      await assertNothingLeft(launcher)
    })
  })

  describe('as pid 1', () => {
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
      const { end, elapsedMs } = decodeExit(
        (await launcher.frame(frameType.exit))?.payload ?? Buffer.alloc(0),
      )
      assert.deepEqual(end, { by: 'signal', signal: 'SIGKILL' })
      assert.ok(elapsedMs >= 1000, `${elapsedMs} ms`)
      assert.equal(printed(launcher), 'late\n20\n')
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
      launcher.stub.kill('SIGKILL')
      await launcher.ended
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
})

/** `u32 operation, u32 length`, and `zeros` zero bytes. */
function record(operation: number, length = 0, zeros = 0): Buffer {
  const bytes = Buffer.alloc(8 + zeros)
  bytes.writeUInt32LE(operation)
  bytes.writeUInt32LE(length, 4)
  return bytes
}

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
