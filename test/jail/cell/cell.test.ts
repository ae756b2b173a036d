/**
 * Tests that send plans directly to the launcher: whatever a host sends, no process is left behind and no step is skipped.
 */
import assert from 'node:assert/strict'
import { constants } from 'node:os'
import { after, before, describe, it } from 'node:test'

import { encodeFrame, frameHeaderBytes, frameType } from '../../../src/jail/launch/frames.ts'
import type { Machine } from '../../../src/jail/machine/machine.ts'
import { recordNames } from '../../../src/jail/plan/plan-records.ts'
import type { PlanRecord } from '../../../src/jail/plan/plan-records.ts'
import { encodeSpawn } from '../../../src/jail/launch/spawn-frame.ts'
import { readFault, sendPlan, useLauncher } from '../launch/raw-launcher.ts'
import { assertNothingLeft, build, probedMachine, spawnOf } from './raw-cell.ts'

const { errno } = constants
const { EPROTO, ENOENT } = errno

describe('the launcher', () => {
  let machine: Machine
  before(async () => {
    machine = await probedMachine()
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

  it('applies Landlock: a guest opens no device for writing that only Landlock keeps from it', async (context) => {
    await using cell = await useLauncher(machine)
    const { launcher, plan } = cell
    await build(launcher, plan.records)
    const facts = launcher.frames.find(({ type }) => type === frameType.ready)?.payload.toString()
    if (/^landlock_abi=0$/m.test(facts ?? '')) return context.skip('the kernel has no Landlock')
    const program = 'for name in zero null; do (: > /dev/$name) 2>/dev/null && echo $name; done; true'
    launcher.send(frameType.spawn, 1, encodeSpawn(spawnOf('/bin/sh', '-c', program)))
    await launcher.frame(frameType.exit)
    const output = launcher.frames.filter(({ type }) => type === frameType.output)
    assert.equal(output.map(({ payload }) => payload.toString('latin1', 1)).join(''), 'null\n')
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
})

/** `u32 operation, u32 length`, and `zeros` zero bytes. */
function record(operation: number, length = 0, zeros = 0): Buffer {
  const bytes = Buffer.alloc(8 + zeros)
  bytes.writeUInt32LE(operation)
  bytes.writeUInt32LE(length, 4)
  return bytes
}
