/**
 * One row for each layer of the wall: the records that build it, what the kernel then reports about a guest, what
 * `doctor` inspects, and what it stops. Plans, probe, receipt, doctor and docs/internals/layers.md follow from this table. Pure.
 */
import { adviseOnCgroups } from '../cgroup/advice.ts'
import type { CgroupRoad } from '../cgroup/cgroup.ts'
import { namespaceFlags } from '../plan/namespaces.ts'
import type { PlanRecord } from '../plan/plan-records.ts'
import type { ProbeLayer } from '../machine/probe-report.ts'
import type { Surroundings } from '../machine/surroundings.ts'

/** What a trial cell shows about a machine. */
export interface Seen {
  /** As the receipt would name them. */
  readonly layers: readonly string[]
  /** What the kernel said of its guest. */
  readonly observed: Readonly<Record<string, string>>
  /** The host's own namespaces, by the name of the link in /proc/self/ns. */
  readonly hostNamespaces: Readonly<Record<string, string>>
  readonly identity: 'own' | 'shared'
  readonly cgroupVersion: 1 | 2 | null
  readonly cgroupRoad: CgroupRoad | null
  readonly cgroupReason: string
  readonly refusedLowers: readonly string[]
  /** Shown paths beside or inside of which something is mounted. */
  readonly mountedOver: readonly string[]
  readonly around: Surroundings
}

/** Prepared once, because most rows search for these in plans of more than a hundred records. */
export interface Outline {
  readonly records: readonly PlanRecord[]
  readonly kinds: ReadonlySet<PlanRecord['do']>
  /** CLONE_NEW* of the namespaces that are created. */
  readonly namespaces: number
}

export interface LayerRow {
  /** As the receipt names it. */
  readonly name: string
  /** What the layer stops, for docs/internals/layers.md. */
  readonly stops: string
  /** Whether these records build it. */
  readonly isBuiltBy: (outline: Outline) => boolean
  /** A space inherits it from its cell. */
  readonly isInherited?: true
  /** What the kernel must report about every guest in /proc/<pid>/status. Source: proc(5). */
  readonly promises?: Readonly<Record<string, string>>
  /** From the facts that pid 1 reports, if the name alone does not say enough. */
  readonly nameFrom?: (facts: Readonly<Record<string, string>>) => string
  /** What `doctor` reports about it; absent for layers that every cell has. */
  readonly describe?: (seen: Seen) => ProbeLayer
}

const has =
  (...names: readonly PlanRecord['do'][]) =>
  ({ kinds }: Outline): boolean =>
    names.some((name) => kinds.has(name))

/** A guest is started after the last record, and in every cell by the same steps. */
const servesGuests = has('serve')

const unshares =
  (flag: number) =>
  ({ namespaces }: Outline): boolean =>
    (namespaces & flag) !== 0

/** `link` is its name in /proc/<pid>/ns if that differs. */
function namespace(name: keyof typeof namespaceFlags, stops: string, link: string = name): LayerRow {
  const describe = ({ observed, hostNamespaces }: Seen): ProbeLayer => {
    const inside = observed[`ns_${link}`]
    // A namespace is the guest's own if its number is not the host's.
    const isOwn = inside !== undefined && inside !== '' && inside !== hostNamespaces[link]
    const [state, what] = isOwn ? (['ok', 'its own'] as const) : (['missing', "the host's"] as const)
    return { name: `${name} namespace`, state, observed: what }
  }
  return { name: `${name}-namespace`, stops, isBuiltBy: unshares(namespaceFlags[name]), describe }
}

/** ABI 6 is the first that keeps guests from abstract sockets and signals outside. */
const scopingAbi = 6

const noCapabilities = { CapPrm: '0000000000000000', CapEff: '0000000000000000' }

export const layerRows: readonly LayerRow[] = [
  {
    name: 'own-uid',
    stops: 'acting as a user of the host, or as another cell',
    isBuiltBy: has('guest-ids'),
    describe: describeOwnUid,
  },
  {
    ...namespace('user', 'having privileges outside of the cell'),
    isInherited: true,
  },
  namespace('pid', 'seeing and signalling processes of the host'),
  namespace('mount', 'seeing and changing files of the host', 'mnt'),
  {
    name: 'own-view',
    stops: 'locking and watching shared files, and reaching sockets and pipes among them',
    isBuiltBy: ({ records, kinds }) =>
      kinds.has('own-view') &&
      records.every((record) => record.do !== 'open-tree' || record.path.startsWith('/dev/')),
    isInherited: true,
    describe: describeOwnView,
  },
  { ...namespace('ipc', 'reaching queues and shared memory of the host'), isInherited: true },
  { ...namespace('uts', 'learning and setting the name of the host'), isInherited: true },
  namespace('cgroup', 'seeing where in the host’s cgroups it is'),
  { ...namespace('network', 'reaching any network', 'net'), isInherited: true },
  {
    name: 'cgroup',
    stops: 'taking more memory, processes and processor time than its limits, all processes together',
    isBuiltBy: has('join', 'guest-join'),
    describe: describeCgroup,
  },
  {
    name: 'no-capabilities',
    stops: 'whatever the kernel reserves for root',
    isBuiltBy: servesGuests,
    promises: noCapabilities,
    describe: ({ observed }) => describeFacts('capabilities', noCapabilities, observed),
  },
  {
    name: 'no-new-privileges',
    stops: 'gaining rights from a program with a set-user-id bit or capabilities',
    isBuiltBy: servesGuests,
    promises: { NoNewPrivs: '1' },
  },
  {
    name: 'no-nested-user-namespaces',
    stops: 'being root in a user namespace, where more of the kernel can be reached',
    isBuiltBy: has('root-guard'),
    isInherited: true,
  },
  {
    name: 'landlock',
    stops: 'every path that is not listed; from ABI 6 on abstract sockets and signals outside of the cell',
    isBuiltBy: has('guest-landlock'),
    nameFrom: ({ landlock_abi: abi = '0' }) => `landlock-${abi}`,
    describe: describeLandlock,
  },
  {
    name: 'seccomp',
    stops: 'system calls, options and ioctls that are not on a list',
    isBuiltBy: has('guest-filter'),
    promises: { Seccomp: '2' },
    describe: ({ observed }) => describeFacts('seccomp', { Seccomp: '2', NoNewPrivs: '1' }, observed),
  },
  {
    name: 'rlimits',
    stops:
      'what one process can take by itself: descriptors, the size of a file, locked memory, queued signals',
    isBuiltBy: servesGuests,
  },
  {
    name: 'warden',
    stops: 'outliving the run where there is no pid namespace',
    isBuiltBy: has('warden'),
  },
]

function describeOwnUid({ identity, observed }: Seen): ProbeLayer {
  const name = 'own uid'
  if (identity === 'own') {
    const inside = observed['Uid']?.split(' ')[0] ?? '?'
    return { name, state: 'ok', observed: `guests are uid ${inside} inside, and have their own id outside` }
  }
  return {
    name,
    state: 'weaker',
    observed: 'guests have the uid of this process; their processes and file watches count against it',
    meaning: 'Guests can read everything shown to them that this user can read, whatever its mode.',
    fix: 'Start as root: cells then get their own ids and never run as root.',
  }
}

/** More would fill the screen; those of one folder have one cause. */
const causesMax = 3

/** Whether guests get inodes of their own for the shown folders. */
function describeOwnView({ layers, refusedLowers, mountedOver }: Seen): ProbeLayer {
  const name = 'own view'
  if (layers.includes('own-view'))
    return { name, state: 'ok', observed: 'folders of the host are shown through the cell’s own overlay' }
  const causes = [
    ...refusedLowers.map((folder) => `the kernel refuses one of ${folder}`),
    ...mountedOver.map((path) => `something is mounted beside or inside of ${path}`),
  ]
  return {
    name,
    state: 'weaker',
    observed: `not every shown path has one: ${causes.slice(0, causesMax).join('; ')}`,
    meaning:
      'Guests have the host’s own inodes, read-only: they can lock files that others lock and watch what others open. `readable` folders with sockets or named pipes are refused.',
    fix: 'Linux 5.11 or later with overlayfs, not nested more than once in other overlays, and no mounts inside of the folders that are shown. Container engines mount /etc/hosts and others.',
  }
}

const roads: Readonly<Record<CgroupRoad, string>> = {
  'own-group': 'inside the cgroup of this process',
  scope: 'in a scope of their own from systemd',
  'root-group': 'directly below the root of the tree',
}

function describeCgroup({ cgroupVersion, cgroupRoad, cgroupReason, around }: Seen): ProbeLayer {
  const name = 'cgroup'
  if (cgroupVersion !== null && cgroupRoad !== null)
    return {
      name,
      state: 'ok',
      observed: `version ${cgroupVersion}, ${roads[cgroupRoad]}: memory, pids, cpu`,
    }
  return {
    name,
    state: 'weaker',
    observed: `${cgroupReason}; a watchdog limits memory and cpu, an rlimit limits processes`,
    meaning:
      'Memory can exceed its limit between two measurements of the watchdog; bytes that wait in pipes (at `restricted` also in sockets) are not counted; a fork bomb ends as an error and not as `limit-exceeded`.',
    fix: adviseOnCgroups(around),
  }
}

/** What the kernel says about the guest, not what the plan promised. */
function describeFacts(
  name: string,
  wanted: Readonly<Record<string, string>>,
  observed: Seen['observed'],
): ProbeLayer {
  const facts = Object.keys(wanted).map((key) => [key, observed[key] ?? '?'] as const)
  return {
    name,
    state: facts.every(([key, value]) => wanted[key] === value) ? 'ok' : 'missing',
    observed: facts.map((fact) => fact.join(' ')).join(', '),
  }
}

function describeLandlock({ layers }: Seen): ProbeLayer {
  const abi = Number(layers.find((layer) => layer.startsWith('landlock-'))?.slice('landlock-'.length) ?? 0)
  if (abi >= scopingAbi) return { name: 'Landlock', state: 'ok', observed: `ABI ${abi}` }
  return {
    name: 'Landlock',
    state: abi > 0 ? 'weaker' : 'missing',
    observed: `ABI ${abi}: no scopes for abstract sockets and signals`,
    meaning:
      "With `network: 'host'` guests can reach abstract sockets of the host; with its default, `none`, they cannot.",
    fix: 'Linux 6.12 or later brings ABI 6.',
  }
}
