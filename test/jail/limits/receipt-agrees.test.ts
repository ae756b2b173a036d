/**
 * The receipt cannot be wrong: on every ground, what it says about a limit agrees with the bytes that are sent to the
 * cell and the values that are written into its cgroup. This test has its own reader of frames, which reads them like
 * the launcher.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import fc from '../../support/fast-check.ts'

import { defaultLimits } from '../../../src/core/limits.ts'
import type { LimitName, Limits } from '../../../src/core/limits.ts'
import type { CgroupFigures, LimitGround } from '../../../src/jail/limits/limit-rows.ts'
import { limitMechanisms, threadGround } from '../../../src/jail/limits/plan-limits.ts'
import type { LimitPlan } from '../../../src/jail/limits/plan-limits.ts'
import { hostView, ownView } from '../../../src/jail/plan/place.ts'
import { planFamily, planSpace } from '../../../src/jail/plan/plan-family.ts'
import { planSandboxSpace } from '../../../src/jail/plan/plan-sandbox.ts'
import type { CellPlan } from '../../../src/jail/plan/plan.ts'
import { planRestrictedCell } from '../../../src/jail/plan/restricted-plan.ts'
import type { CellGround, CellShape, Wall } from '../../../src/jail/plan/shape.ts'
import { encodeBegin, encodeSpawn } from '../../../src/jail/launch/spawn-frame.ts'
import { nothingKnown } from '../../../src/result/exit.ts'
import { writeReceipt } from '../../../src/result/receipt.ts'
import { commonSpec, holdCommands } from '../../../src/sandbox/commands/command-limits.ts'
import {
  beginSpec,
  holdLimits,
  holdParked,
  parkSpec,
  startSpec,
} from '../../../src/runtimes/work/guest-start.ts'
import type { Program } from '../../../src/runtimes/runtime.ts'
import { exampleShape, facts, ownGround, planExample, sharedGround } from '../cell/example-cell.ts'

// Source: asm-generic/resource.h.
const resources = { cpu: 0, fileSize: 1, data: 2, processes: 6, openFiles: 7 }
const work = '/tmp/example'
const program: Program = { file: '/f', argv: ['f'], env: {}, files: [], binds: [], baseDataBytes: 1000 }
const spec = { language: 'shell', code: '' } as const
const limitFigures = { openFilesHard: 1_000_000, processesHard: 2_000_000, tcpMem: '1000 2000 3000' }

type Start = 'cold' | 'parked' | 'forked' | 'command'
interface Situation {
  readonly wall: Wall
  readonly identity: 'own' | 'shared'
  readonly hasCgroup: boolean
  readonly start: Start
}

/** Every combination of grounds. */
const situations: readonly Situation[] = (['namespaces', 'landlock', 'none'] as const).flatMap((wall) =>
  (['own', 'shared'] as const).flatMap((identity) =>
    [true, false].flatMap((hasCgroup) =>
      (['cold', 'parked', 'forked', 'command'] as const)
        .filter((start) => wall === 'namespaces' || start !== 'forked')
        .map((start) => ({ wall, identity, hasCgroup, start })),
    ),
  ),
)

function cellGround({ wall, identity, hasCgroup }: Situation): CellGround {
  const { cgroupJoins } = hasCgroup ? ownGround : sharedGround
  const ground = identity === 'own' ? ownGround : sharedGround
  return { ...ground, wall, cgroupJoins, memoryHeldByCgroup: hasCgroup }
}

function limitGround({ wall, identity, hasCgroup, start }: Situation): LimitGround {
  const best = identity === 'own' && hasCgroup ? 'strong' : 'standard'
  const level = { namespaces: best, landlock: 'restricted', none: 'none' } as const
  const isInSpace = wall === 'namespaces' && (start === 'forked' || start === 'command')
  const sharesId = start === 'command'
  return { level: level[wall], cgroupVersion: hasCgroup ? 1 : null, identity, isInSpace, sharesId }
}

/** The plans that are executed before a guest starts: that of its cell, and that of an outer cell if there is one. */
function plansOf(situation: Situation, { diskBytes }: Limits): readonly CellPlan[] {
  const ground = cellGround(situation)
  const shape: CellShape = { ...exampleShape, diskBytes }
  if (situation.wall !== 'namespaces')
    return [planRestrictedCell({ ...shape, place: hostView(work) }, ground, work)]
  if (situation.start === 'cold' || situation.start === 'parked') return [planExample(ground, shape)]
  const parts = {
    name: 'f',
    secret: Buffer.alloc(32),
    cgroupFolders: ground.cgroupJoins,
    argv: [],
    env: {},
    folder: '/workspace',
  }
  const family = planFamily(shape, ground, { family: parts, facts })
  const inside = { ...ground, guest: 0, cgroupJoins: ground.cgroupJoins.map(() => 'cell-1/tasks') }
  return situation.start === 'forked'
    ? [family, planSpace(shape, inside, { isForked: true })]
    : [family, planSandboxSpace(shape, inside, 'user')]
}

interface Sent {
  readonly rlimits: ReadonlyMap<number, number>
  readonly watched: Readonly<
    Record<'memoryBytes' | 'cpuMs' | 'socketBytes' | 'tasksMax' | 'filesMax', number>
  >
  readonly wallMs: number
  readonly outputBytes: number
}

class Reader {
  #at = 0
  readonly #bytes: Buffer
  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }
  u32 = (): number => this.#bytes.readUInt32LE((this.#at += 4) - 4)
  u64 = (): number => Number(this.#bytes.readBigUInt64LE((this.#at += 8) - 8))
  skipString(): void {
    const length = this.u32()
    this.#at += length
  }
}

function readHeld(reader: Reader): Omit<Sent, 'rlimits'> {
  const [outputBytes, memoryBytes, cpuMs] = [reader.u64(), reader.u64(), reader.u64()]
  const [wallMs, socketBytes] = [reader.u64(), reader.u64()]
  const [tasksMax, filesMax] = [reader.u64(), reader.u64()]
  return { outputBytes, wallMs, watched: { memoryBytes, cpuMs, socketBytes, tasksMax, filesMax } }
}

/** Without the flag of values that are added to the current use. */
function readRlimits(reader: Reader): [number, number][] {
  return Array.from({ length: reader.u32() }, () => {
    const resource = reader.u32() & 0xff
    reader.u64()
    return [resource, reader.u64()]
  })
}

function readSpawn(frame: Buffer): Sent {
  const reader = new Reader(frame)
  reader.u32()
  const held = readHeld(reader)
  reader.skipString()
  reader.skipString()
  return { ...held, rlimits: new Map(readRlimits(reader)) }
}

interface Begun {
  readonly held: LimitPlan
  readonly sent: Sent
  readonly cgroup: CgroupFigures | null
}

/** A guest with its run, read from the frames of both. A parked guest was started with higher values. */
function begin(situation: Situation, limits: Limits): Begun {
  const place = situation.wall === 'namespaces' ? ownView : hostView(work)
  const on = { machine: { limitFigures }, ground: { limitGround: limitGround(situation) }, place }
  if (situation.start === 'command') {
    const held = holdCommands(limits, { limitGround: limitGround(situation), limitFigures, kind: 'user' })
    const frame = encodeSpawn({ ...commonSpec(held), file: '/f', argv: ['f'], env: {}, folder: '/' })
    return { held, sent: readSpawn(frame), cgroup: held.cgroup }
  }
  const held = holdLimits(program, limits, on)
  const task = { program, spec, held }
  if (situation.start === 'cold')
    return { held, sent: readSpawn(encodeSpawn(startSpec(task, on))), cgroup: held.cgroup }
  const parked = holdParked(program, { ...limits, processesMax: limits.processesMax + 1 }, on)
  const before = readSpawn(encodeSpawn(parkSpec(program, parked, on)))
  const reader = new Reader(encodeBegin(beginSpec(task, parked, on)))
  const now = readHeld(reader)
  const rlimits = new Map([...before.rlimits, ...readRlimits(reader)])
  return { held, sent: { ...now, rlimits }, cgroup: held.cgroup }
}

/** The size limit of each tmpfs, in bytes. */
function tmpfsSizes(plans: readonly CellPlan[]): Map<string, number> {
  const mounts = plans.flatMap(({ records }) =>
    records.flatMap((record) => (record.do === 'mount' && record.type === 'tmpfs' ? [record] : [])),
  )
  return new Map(
    mounts.map(({ path, options }) => [
      path.replace(/^\//, ''),
      Number(/size=([\d.]+)/.exec(options)?.[1] ?? Number.NaN),
    ]),
  )
}

const isJoined = (plans: readonly CellPlan[]): boolean =>
  plans.at(-1)?.records.some((record) => record.do === 'join' || record.do === 'guest-join') === true

type Proof = (value: number, begun: Begun, plans: readonly CellPlan[]) => boolean

/** The kernel counts processes per user namespace and id, so a guest needs its own of both. */
function isCountedAlone(plans: readonly CellPlan[]): boolean {
  const newUsers = 0x1000_0000
  return (
    plans
      .at(-1)
      ?.records.some(
        (record) => record.do === 'guest-ids' || (record.do === 'clone' && (record.flags & newUsers) !== 0),
      ) === true
  )
}

/**
 * The proof that each way of enforcing a limit needs. A limit may not be enforced in a way without a proof. Limits that
 * are not listed are enforced by the host itself, without anything that is sent.
 */
const proofs: Partial<Record<LimitName, Partial<Record<string, Proof>>>> = {
  wallMs: { cell: (value, { sent }) => sent.wallMs === value },
  outputBytes: { cell: (value, { sent }) => sent.outputBytes === value },
  cpuMs: {
    cgroup: (_value, { sent, cgroup }, plans) =>
      cgroup !== null && isJoined(plans) && sent.watched.cpuMs === 0,
    watchdog: (value, { sent }) => sent.watched.cpuMs === value,
  },
  memoryBytes: {
    cgroup: (value, { cgroup, sent }, plans) =>
      cgroup?.memoryBytes === value && isJoined(plans) && sent.watched.memoryBytes === 0,
    watchdog: (value, { sent }) =>
      sent.watched.memoryBytes === value && Number(sent.rlimits.get(resources.data)) > value,
  },
  processesMax: {
    cgroup: (value, { cgroup, sent }, plans) =>
      cgroup?.tasksMax === value + 1 &&
      isJoined(plans) &&
      Number(sent.rlimits.get(resources.processes)) > value,
    // The count may include pid 1.
    rlimit: (value, { sent }, plans) =>
      [value, value + 1].includes(Number(sent.rlimits.get(resources.processes))) &&
      isCountedAlone(plans) &&
      sent.watched.tasksMax === 0,
    watchdog: (value, { sent }) =>
      [value, value + 1].includes(sent.watched.tasksMax) &&
      Number(sent.rlimits.get(resources.processes)) > sent.watched.tasksMax,
  },
  openFilesMax: { rlimit: (value, { sent }) => sent.rlimits.get(resources.openFiles) === value },
  diskBytes: {
    tmpfs: (value, { sent }, plans) => {
      const sizes = tmpfsSizes(plans)
      const [workspace, temporary] = [sizes.get('workspace'), sizes.get('tmp')]
      const isBounded = workspace === value && temporary !== undefined && temporary <= value
      return isBounded && sent.rlimits.get(resources.fileSize) === value
    },
    watchdog: (value, { sent }, plans) =>
      plans.some(({ records }) =>
        records.some((record) => record.do === 'work' && record.bytesMax === value),
      ) && sent.rlimits.get(resources.fileSize) === value,
  },
}

const anyLimits: fc.Arbitrary<Limits> = fc
  .record({
    wallMs: fc.integer({ min: 1, max: 1e6 }),
    cpuMs: fc.option(fc.integer({ min: 1, max: 1e6 })),
    memoryBytes: fc.integer({ min: 1 << 24, max: 2 ** 40 }),
    processesMax: fc.integer({ min: 1, max: 5000 }),
    openFilesMax: fc.integer({ min: 16, max: 1e6 }),
    diskBytes: fc.integer({ min: 1 << 16, max: 2 ** 40 }),
    outputBytes: fc.nat({ max: 2 ** 28 }),
    functionMs: fc.option(fc.integer({ min: 1, max: 1e6 })),
  })
  .map((some) => ({ ...defaultLimits, ...some }))

function receiptOf(limits: Limits, held: LimitPlan) {
  const about = { start: 'cold', runtime: 'shell', protection: 'strong', clamped: [] } as const
  return writeReceipt({ ...about, limits }, { ...nothingKnown, heldBy: held.by }).limits
}

for (const situation of situations) {
  const { wall, identity, hasCgroup, start } = situation
  const title = `${start}, behind ${wall}, with ${identity} ids and ${hasCgroup ? 'a' : 'no'} cgroup`
  test(`${title}: the receipt agrees with the limits that were sent`, () => {
    fc.assert(
      fc.property(anyLimits, (limits) => {
        const begun = begin(situation, limits)
        const plans = plansOf(situation, limits)
        for (const [name, { value, by }] of Object.entries(receiptOf(limits, begun.held))) {
          const limit = name as LimitName
          // In a sandbox these limits do not apply: see docs/guide/sandboxes.md.
          if (start === 'command' && (limit === 'wallMs' || limit === 'cpuMs')) continue
          if (value === null) assert.equal(by, 'none', name)
          else if (proofs[limit] === undefined) assert.equal(by, 'host', name)
          else assert.ok(proofs[limit]?.[by]?.(value, begun, plans), `${name}: ${value} by ${by}`)
        }
      }),
      { numRuns: 20 },
    )
  })

  test(`${title}: a cgroup has limits exactly if it is joined, and the filter depends on it`, () => {
    const { cgroup, held } = begin(situation, defaultLimits)
    const plans = plansOf(situation, defaultLimits)
    assert.equal(cgroup !== null, isJoined(plans))
    assert.equal(held.by.memoryBytes === 'cgroup', cellGround(situation).memoryHeldByCgroup)
    assert.equal(held.by.memoryBytes === 'cgroup', plans.at(-1)?.layers.includes('cgroup'))
  })
}

test('each limit has a check for each mechanism that can enforce it, and no other', () => {
  const ways = new Map<string, Set<string>>()
  for (const situation of situations)
    for (const [name, by] of Object.entries(limitMechanisms(limitGround(situation))))
      ways.set(name, (ways.get(name) ?? new Set()).add(by))
  const found = [...ways].map(([name, all]) => [name, [...all].toSorted()])
  const proved = Object.keys(defaultLimits).map((name) => [
    name,
    Object.keys(proofs[name as LimitName] ?? { host: undefined }).toSorted(),
  ])
  assert.deepEqual(found, proved)
})

test('without a cell, no limit is enforced by a mechanism of cells', () => {
  const ways = new Set(Object.values(limitMechanisms(threadGround)))
  assert.deepEqual([...ways].toSorted(), ['host', 'wasm'])
})
