/**
 * An incomplete wall: whichever step of building a cell fails, the report names its record, the step and the errno; no
 * guest runs, and nothing is left on the machine.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { constants, tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, describe, it } from 'node:test'

import { encodeFrame, frameType } from '../../../src/jail/launch/frames.ts'
import { Machine } from '../../../src/jail/machine/machine.ts'
import { hostView } from '../../../src/jail/plan/place.ts'
import { encodePlan, recordNames } from '../../../src/jail/plan/plan-records.ts'
import type { PlanRecord } from '../../../src/jail/plan/plan-records.ts'
import { planRestrictedCell } from '../../../src/jail/plan/restricted-plan.ts'
import { encodeSpawn } from '../../../src/jail/launch/spawn-frame.ts'
import { defaultUidRange } from '../../../src/jail/machine/uid-range.ts'
import { LeakCheck } from '../../support/machine/leaks.ts'
import {
  failingSteps,
  failingStepsOfOthers,
  failingStepsOfRoot,
  failingStepsOfWardens,
  placeOf,
} from './failing-steps.ts'
import type { FailingStep, Injection, RecordName } from './failing-steps.ts'
import { readFault, useLauncher } from './raw-launcher.ts'
import type { Fault, RawLauncher } from './raw-launcher.ts'
import { hasCommand } from '../seccomp/filtered-command.ts'
import { unwatched } from '../../../src/jail/limits/limit-rows.ts'

const { EPERM, EPROTO } = constants.errno
const isRoot = process.geteuid?.() === 0
const steps = [...failingSteps, ...(isRoot ? failingStepsOfRoot : failingStepsOfOthers)]

/** These records only store their bytes. They fail if the bytes are truncated, or later, where the bytes are used. */
const keepers: readonly RecordName[] = ['guest-ids', 'guest-landlock']

/** A guest that would leave a trace if it ran. */
const guest = encodeSpawn({
  file: '/bin/sh',
  argv: ['sh', '-c', 'echo ran'],
  env: {},
  folder: '/',
  rlimits: [],
  wallMs: 0,
  outputBytes: 1000,
  watched: unwatched,
})

const folder = mkdtempSync(join(tmpdir(), 'lazaret-steps-'))
const injector = join(folder, 'fail-syscall')
const canInject = hasCommand('cc')
if (canInject) {
  const source = join(import.meta.dirname, 'fixtures/fail-syscall.c')
  execFileSync('cc', ['-O1', '-Wall', '-Wextra', '-Werror', '-o', injector, source], { stdio: 'inherit' })
}
after(() => rmSync(folder, { recursive: true, force: true }))

function through({ number, errno, firstArgument }: Injection): string[] {
  const call = number[process.arch === 'arm64' ? 'arm64' : 'x64']
  return [injector, String(call), String(errno), firstArgument === undefined ? 'any' : String(firstArgument)]
}

/** A record with any bytes as its payload. */
function rawRecord(name: RecordName, payload: Uint8Array): Buffer {
  const head = Buffer.alloc(8)
  head.writeUInt32LE(recordNames.indexOf(name) + 1, 0)
  head.writeUInt32LE(payload.length, 4)
  return Buffer.concat([head, payload])
}

const payloadOf = (record: PlanRecord) => encodePlan([record]).subarray(8)

describe('a step that fails while a cell is built', () => {
  let machine: Machine
  let leaks: LeakCheck
  before(async () => {
    leaks = new LeakCheck()
    machine = new Machine({ uidRange: defaultUidRange })
    // A process's first child opens descriptors that stay open, so it is started before the baseline.
    await (await useLauncher(machine))[Symbol.asyncDispose]()
    await leaks.takeBaseline()
  })
  afterEach(() => leaks.check())
  after(async () => {
    await machine[Symbol.asyncDispose]()
    await leaks.checkDisposed()
  })

  /** The fault that the launcher reports; it must be the only one, and no guest may have been started. */
  async function failWith(launcher: RawLauncher, plan: Uint8Array): Promise<Fault | undefined> {
    launcher.control.write(
      Buffer.concat([encodeFrame(frameType.plan, 0, plan), encodeFrame(frameType.spawn, 1, guest)]),
    )
    // A complete cell would wait for its host for ever.
    assert.equal((await launcher.frame(frameType.ready))?.type, undefined, 'the cell stands')
    await launcher.ended
    const faults = launcher.frames.filter(({ type }) => type === frameType.fault)
    const others = launcher.frames.filter(({ type }) => type !== frameType.fault && type !== frameType.born)
    assert.ok(faults.length <= 1, JSON.stringify(faults.map(readFault)))
    assert.deepEqual(
      others.map(({ type }) => type).filter((type) => type !== frameType.gone),
      [],
      'something ran',
    )
    return readFault(faults[0])
  }

  /** The plan with the failing step, and the index that must be reported. */
  function build(records: readonly PlanRecord[], failing: FailingStep): { plan: PlanRecord[]; at: number } {
    const own = records.findIndex((record) => record.do === failing.name)
    const place = own === -1 ? records.findIndex((record) => record.do === placeOf[failing.name]) : own
    assert.notEqual(place, -1, `the plan has no place for ${failing.name}`)
    const inserted = [...(failing.before ?? []), ...(failing.record === undefined ? [] : [failing.record])]
    const isReplaced = own !== -1 && failing.record !== undefined
    const plan = records.toSpliced(place, isReplaced ? 1 : 0, ...inserted)
    const reported = failing.reported ?? failing.name
    const at =
      reported === failing.name
        ? place + (failing.before?.length ?? 0)
        : plan.findIndex((one) => one.do === reported)
    return { plan, at }
  }

  for (const failing of steps) {
    const skip =
      failing.inject !== undefined && !canInject ? 'cc is not installed, and the injector is C' : false
    it(`${failing.name} is reported when ${failing.why}`, { skip }, async () => {
      await using cell = await useLauncher(
        machine,
        failing.inject === undefined ? [] : through(failing.inject),
      )
      const { plan, at } = build(cell.plan.records, failing)
      assert.deepEqual(await failWith(cell.launcher, encodePlan(plan)), {
        record: at,
        errno: failing.errno,
        step: failing.step,
      })
    })
  }

  describe('without namespaces', () => {
    for (const failing of failingStepsOfWardens) {
      const skip =
        failing.inject !== undefined && !canInject ? 'cc is not installed, and the injector is C' : false
      it(`${failing.name} is reported when ${failing.why}`, { skip }, async () => {
        const work = join(folder, 'work')
        await using cell = await useLauncher(
          machine,
          failing.inject === undefined ? [] : through(failing.inject),
        )
        const shape = { binds: [], network: 'none', place: hostView(work), diskBytes: 1024 * 1024 } as const
        const whole = planRestrictedCell(shape, { ...cell.ground, wall: 'landlock' }, work)
        const { plan, at } = build(whole.records, failing)
        const fault = await failWith(cell.launcher, encodePlan(plan))
        assert.deepEqual(fault, { record: at, errno: failing.errno, step: failing.step })
        // The launcher failed before it could clean up, so the host does.
        rmSync(work, { recursive: true, force: true })
      })
    }
  })

  it('is tested for every type of record', () => {
    const tried = new Set<string>([
      ...[...steps, ...failingStepsOfWardens].map(({ name }) => name),
      ...keepers,
    ])
    assert.deepEqual(
      recordNames.filter((name) => !tried.has(name)),
      [],
    )
  })

  it('ends the cell wherever it is in the plan', async () => {
    await using first = await useLauncher(machine)
    const { records } = first.plan
    for (let at = 0; at < records.length; at++) {
      await using cell = await useLauncher(machine)
      const unknown = Buffer.alloc(8, 0xff)
      const plan = [
        encodePlan(cell.plan.records.slice(0, at)),
        unknown,
        encodePlan(cell.plan.records.slice(at + 1)),
      ]
      assert.deepEqual(
        await failWith(cell.launcher, Buffer.concat(plan)),
        { record: at, errno: EPROTO, step: 'parse a record' },
        records[at]?.do,
      )
    }
  })

  for (const [name, change] of [
    ['with a byte missing', (payload: Buffer) => payload.subarray(0, -1)],
    ['with a byte to spare', (payload: Buffer) => Buffer.concat([payload, Buffer.alloc(1)])],
  ] as const) {
    it(`is reported for every record ${name}, which leaves no effect`, async () => {
      await using first = await useLauncher(machine)
      const kinds = new Set(first.plan.records.map((record) => record.do))
      for (const kind of kinds) {
        await using cell = await useLauncher(machine)
        const { records } = cell.plan
        const at = records.findIndex((record) => record.do === kind)
        const payload = payloadOf(records[at] as PlanRecord)
        // The bytes of `guest-landlock` are read only in guests. A record without bytes cannot be truncated.
        if (kind === 'guest-landlock' || change(payload).length === payload.length) continue
        const plan = [
          encodePlan(records.slice(0, at)),
          rawRecord(kind, change(payload)),
          encodePlan(records.slice(at + 1)),
        ]
        const fault = await failWith(cell.launcher, Buffer.concat(plan))
        const step =
          kind === 'guest-filter' && payload.length > change(payload).length
            ? 'read the system call filter'
            : "parse a record's payload"
        assert.deepEqual(fault, { record: at, errno: EPROTO, step }, kind)
      }
    })
  }

  it('guest-landlock is reported when a guest cannot read its rules, and the guest does not run', async () => {
    await using cell = await useLauncher(machine)
    const { launcher, plan } = cell
    const at = plan.records.findIndex((record) => record.do === 'guest-landlock')
    const payload = payloadOf(plan.records[at] as PlanRecord)
    const bytes = [
      encodePlan(plan.records.slice(0, at)),
      rawRecord('guest-landlock', payload.subarray(0, -1)),
      encodePlan(plan.records.slice(at + 1)),
    ]
    launcher.send(frameType.plan, 0, Buffer.concat(bytes))
    launcher.send(frameType.spawn, 1, guest)
    const fault = readFault(await launcher.frame(frameType.fault))
    assert.deepEqual(fault, { record: null, errno: EPROTO, step: 'apply Landlock' })
    await launcher.frame(frameType.exit)
    assert.ok(launcher.frames.every(({ type }) => type !== frameType.spawned && type !== frameType.output))
  })

  /** Root is still the saved uid of the process that continues inside. */
  const map = '0 2000000000 1\n'
  const untaken = {
    records: [
      { do: 'id-maps', uidMap: map, gidMap: map, denySetgroups: false },
      { do: 'become', uid: 2_000_000_000, gid: 2_000_000_000 },
      { do: 'clone', flags: 0x1000_0000 },
      { do: 'guard' },
    ] satisfies PlanRecord[],
    fault: { record: 3, errno: EPERM, step: 'check the saved uid' },
  }

  describe('because of the order of the records', () => {
    const orders: Readonly<
      Record<string, { readonly records: readonly PlanRecord[]; readonly fault: Fault }>
    > = {
      'serving outside of a pid namespace': {
        records: [{ do: 'serve' }],
        fault: { record: 0, errno: EPROTO, step: 'be pid 1 or a warden' },
      },
      'a guard without a stub': {
        records: [{ do: 'guard' }, { do: 'serve' }],
        fault: { record: 0, errno: EPROTO, step: 'find the stub' },
      },
      'namespaces without id maps': {
        records: [{ do: 'clone', flags: 0x1000_0000 }, { do: 'guard' }],
        fault: { record: 0, errno: EPROTO, step: 'write the id maps' },
      },
      ...(isRoot ? { 'a guard before ids are taken inside': untaken } : {}),
    }
    for (const [name, { records, fault }] of Object.entries(orders)) {
      it(`${name} is refused`, async () => {
        await using cell = await useLauncher(machine)
        assert.deepEqual(await failWith(cell.launcher, encodePlan(records)), fault)
      })
    }
  })
})
