/** An example shape and grounds for plans in tests. None of the paths has to exist. */
import { planCell } from '../../../src/jail/plan/plan.ts'
import type { CellPlan } from '../../../src/jail/plan/plan.ts'
import { hostView, ownView } from '../../../src/jail/plan/place.ts'
import type { PlanRecord } from '../../../src/jail/plan/plan-records.ts'
import { planRestrictedCell } from '../../../src/jail/plan/restricted-plan.ts'
import type { CellGround, CellShape, HostView } from '../../../src/jail/plan/shape.ts'
import type { SourceFacts } from '../../../src/jail/view/sources.ts'

export const exampleView: HostView = {
  folders: ['/usr'],
  links: [{ path: '/bin', target: 'usr/bin' }],
  etc: ['/etc/ld.so.cache', '/etc/ssl/certs'],
  database: ['/var/lib/dpkg'],
  texts: { '/sys/devices/system/cpu/online': '0-1\n' },
  refusedLowers: [],
  resolvConf: 'nameserver 192.0.2.1\n',
}

export const exampleShape: CellShape = {
  binds: [{ host: '/srv/toolchain', guest: '/opt/toolchain' }],
  network: 'none',
  place: ownView,
  diskBytes: 1024 * 1024,
}

/** Started by root, with cgroups. */
export const ownGround: CellGround = {
  wall: 'namespaces',
  identity: { kind: 'own', firstId: 2_000_000_000 },
  cgroupJoins: ['/sys/fs/cgroup/memory/x/tasks', '/sys/fs/cgroup/pids/x/tasks'],
  memoryHeldByCgroup: true,
  architecture: 'x64',
  hostView: exampleView,
}

/** Started by an ordinary user, without cgroups. */
export const sharedGround: CellGround = {
  wall: 'namespaces',
  identity: { kind: 'shared', uid: 1234, gid: 5678 },
  cgroupJoins: [],
  memoryHeldByCgroup: false,
  architecture: 'x64',
  hostView: exampleView,
}

const files = new Set([
  '/etc/ld.so.cache',
  ...['null', 'zero', 'full', 'random', 'urandom', 'tty'].map((name) => `/dev/${name}`),
])

/** Everything is on one file system without other mounts. A user gets one overlay for each folder at its root. */
export const facts: SourceFacts = {
  isFile: (path) => files.has(path),
  realPath: (path) => path,
  lowersOf: (path, kind) => {
    const folder = kind === 'own' ? '/' : `/${path.split('/')[1] ?? ''}`
    return [{ folder, inside: path.slice(folder.length).replace(/^\//, '') || '.' }]
  },
}

export function planExample(ground: CellGround, shape: Partial<CellShape> = {}): CellPlan {
  return planCell({ ...exampleShape, ...shape }, ground, facts)
}

/** The same plan without namespaces. */
export function planRestrictedExample(ground: CellGround, shape: Partial<CellShape> = {}): CellPlan {
  const work = '/tmp/example'
  const restricted = { ...exampleShape, place: hostView(work), ...shape }
  return planRestrictedCell(restricted, { ...ground, wall: 'landlock' }, work)
}

/** The records of one kind. */
export function recordsOf<Name extends PlanRecord['do']>(
  plan: CellPlan,
  name: Name,
): Extract<PlanRecord, { do: Name }>[] {
  return plan.records.filter((record): record is Extract<PlanRecord, { do: Name }> => record.do === name)
}
