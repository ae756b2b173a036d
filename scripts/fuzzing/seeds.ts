/** The seeds of fuzzing: real plans, frames and files, as the host and the kernel write them. */
import { constants } from 'node:os'

import { relayFrame } from '../../src/jail/edge/relay-frames.ts'
import { PayloadWriter, encodeFrame, frameType, held } from '../../src/jail/launch/frames.ts'
import { planCell } from '../../src/jail/plan/plan.ts'
import { hostView, ownView } from '../../src/jail/plan/place.ts'
import { planRestrictedCell } from '../../src/jail/plan/restricted-plan.ts'
import { encodePlan } from '../../src/jail/plan/plan-records.ts'
import type { PlanRecord } from '../../src/jail/plan/plan-records.ts'
import type { CellGround } from '../../src/jail/plan/shape.ts'
import type { SourceFacts } from '../../src/jail/view/sources.ts'
import { encodeBegin, encodeSpawn } from '../../src/jail/launch/spawn-frame.ts'
import { encodeWanted } from '../../src/runtimes/collect/listing.ts'
import { encodeRecord, recordKind } from '../../src/sandbox/files/file-records.ts'

/** With zero, every call of the fake kernel works. Higher bits let some fail; the lowest have a meaning for each target. */
const kernelSeeds = [0, 2, 3, 7, 1234, 99_991]

export function makeSeeds(target: string): Buffer[] {
  const make = makers[target]
  if (make === undefined) throw new Error(`There are no seeds for ${target}.`)
  return make().flatMap((bytes) => kernelSeeds.map((seed) => Buffer.concat([word(seed), bytes])))
}

const makers: Readonly<Record<string, () => Buffer[]>> = {
  plan: () => [
    ...plans().map(encodePlan),
    ...singleRecords(),
    encodeFrame(frameType.plan, 0, encodePlan(shortPlan)),
  ],
  control: () => [
    spawnFrames(),
    parkedFrames(),
    streamFrames(),
    channelFrames(),
    Buffer.concat(putFrames()),
    ...putFrames(),
    Buffer.alloc(0),
  ],
  nursery: () => [nurseryInput()],
  confine: () => plans().slice(0, -1).map(confineInput),
  collect: () => [encodeWanted(wanted), folderNames(['a', 'b.txt', '..', 'c'], ['d'], [])],
  files: () => [archive(), folderNames(['a', 'b.txt', '..', 'c'], ['d'], [])],
  relay: () => [relayInput()],
  proc: () => [processFiles('sh'), processFiles('a) R 1 (b'), processFiles('\\nVmSize:')],
}

/** One entry of each kind that can be unpacked. */
function archive(): Buffer {
  const common = { mode: 0o755, modifiedMs: 1, bytes: 0, target: '' }
  return Buffer.concat([
    encodeRecord({ ...common, kind: recordKind.folder, path: 'a/b' }),
    encodeRecord({ ...common, kind: recordKind.file, path: 'a/b/c', bytes: 3 }),
    Buffer.from('abc'),
    encodeRecord({ ...common, kind: recordKind.link, path: 'd', target: 'a/b' }),
    encodeRecord({ ...common, kind: recordKind.hardLink, path: 'e', target: 'a/b/c' }),
    encodeRecord({ ...common, kind: recordKind.end, path: '' }),
  ])
}

const ground: CellGround = {
  wall: 'namespaces',
  identity: { kind: 'own', firstId: 2_000_000_000 },
  cgroupJoins: ['/sys/fs/cgroup/memory/x/tasks'],
  memoryHeldByCgroup: true,
  architecture: 'x64',
  hostView: {
    folders: ['/usr'],
    links: [{ path: '/bin', target: 'usr/bin' }],
    etc: ['/etc/ssl'],
    database: ['/var/lib/dpkg'],
    texts: { '/sys/devices/system/cpu/online': '0-1\n' },
    refusedLowers: [],
    resolvConf: '',
  },
}
const plainGround: CellGround = {
  ...ground,
  identity: { kind: 'shared', uid: 1234, gid: 5678 },
  cgroupJoins: [],
  memoryHeldByCgroup: false,
}
const shortPlan: readonly PlanRecord[] = [
  { do: 'id-maps', uidMap: '1000 1 1', gidMap: '1000 1 1', denySetgroups: true },
  { do: 'clone', flags: 0x7c02_0000 },
  { do: 'guard' },
  { do: 'serve' },
]

function plans(): (readonly PlanRecord[])[] {
  const shape = { binds: [], network: 'none', place: ownView, diskBytes: 1 << 20 } as const
  const work = '/var/work'
  // One source is bound directly, so that a plan has both kinds.
  const facts: SourceFacts = {
    isFile: (path) => path.startsWith('/dev/'),
    realPath: (path) => path,
    lowersOf: (path) => (path === '/usr' ? [{ folder: '/', inside: 'usr' }] : []),
  }
  const walled = [ground, plainGround].map((one) => planCell(shape, one, facts).records)
  const warded = [ground, plainGround].map((one) => {
    return planRestrictedCell({ ...shape, place: hostView(work) }, { ...one, wall: 'landlock' }, work).records
  })
  return [
    ...walled,
    ...warded,
    [
      { do: 'guest-ids', uid: 7, gid: 7 },
      { do: 'remove', path: work, endsGuests: true },
    ],
  ]
}

/** A host's frames to a nursery after its name, and its bytes on connections to it. */
function nurseryInput(): Buffer {
  const kills = Array.from({ length: 24 }, (_, index) => encodeFrame(frameType.kill, index % 3))
  const host = Buffer.concat([Buffer.from('name'), ...kills])
  const greet = (id: number, role: number) =>
    encodeFrame(frameType.greeting, id, Buffer.from([role, Number(id === 2)]))
  return Buffer.concat([
    word(host.length),
    host,
    greet(1, 1),
    greet(1, 3),
    greet(2, 1),
    greet(2, 3),
    greet(2, 4),
  ])
}

/** Bytes from the host, launchers and guests to the relay: mostly zeros, because its secret and tokens are zeros here. */
function relayInput(): Buffer {
  const payload = () => new PayloadWriter()
  const token = Buffer.alloc(16)
  const open = payload().bytes(Buffer.from('name')).bytes(Buffer.alloc(32)).finish()
  const admit = payload().bytes(token).u32(1).u32(4).u64(100_000).finish()
  const connect = payload()
    .u32(443)
    .bytes(Buffer.from([127, 0, 0, 1]))
    .bytes(token)
    .finish()
  const each = [0, 1, 2].flatMap((id) => [
    encodeFrame(relayFrame.admit, id, admit),
    encodeFrame(relayFrame.answer, id, payload().u32(id).bytes(Buffer.alloc(12)).finish()),
    encodeFrame(relayFrame.connect, id, connect),
    encodeFrame(relayFrame.refuse, id + 3),
  ])
  const drops = [0, 1].map((id) => encodeFrame(relayFrame.drop, id))
  const host = Buffer.concat([encodeFrame(relayFrame.open, 0, open), ...each, ...each.slice(2, 4), ...drops])
  return Buffer.concat([word(host.length), host, Buffer.alloc(1024)])
}

/** One record of each kind alone, so that a mutated payload need not get through the forty records before it. */
function singleRecords(): Buffer[] {
  const byKind = new Map(plans().flatMap((records) => records.map((record) => [record.do, record])))
  return [...byKind.values()].map((record) => encodePlan([record]))
}

function confineInput(records: readonly PlanRecord[]): Buffer {
  const payloadOf = (kind: PlanRecord['do']) =>
    encodePlan(records.filter((record) => record.do === kind)).subarray(8)
  const filter = payloadOf('guest-filter')
  return Buffer.concat([word(filter.length), filter, payloadOf('guest-landlock')])
}

const spec = {
  file: '/bin/sh',
  argv: ['sh', '-c', 'cat'],
  env: { HOME: '/workspace' },
  folder: '/workspace',
  rlimits: [
    { resource: 7, soft: 64, hard: 64 },
    { resource: 6, soft: 64, hard: 64, isBesideOthers: true },
  ],
  channel: 'cell',
  wallMs: 1000,
  outputBytes: 100,
  watched: { memoryBytes: 1 << 20, cpuMs: 100, socketBytes: 1 << 20, tasksMax: 64, filesMax: 4096 },
} as const

function spawnFrames(): Buffer {
  const collector = { ...spec, file: 'list', argv: ['.'], stdin: Buffer.alloc(0), isCollector: true }
  return Buffer.concat([
    encodeFrame(frameType.spawn, 1, encodeSpawn(spec)),
    encodeFrame(frameType.signal, 1, word(constants.signals.SIGTERM)),
    encodeFrame(frameType.killAll, 0),
    encodeFrame(frameType.spawn, 2, encodeSpawn(collector)),
    encodeFrame(frameType.end, 0),
  ])
}

/** A parked guest that gets its run, and reports its end before it exits. */
function parkedFrames(): Buffer {
  const begin = encodeBegin({
    ...spec,
    stdin: Buffer.alloc(0),
    work: { bytesMax: 1 << 20, entriesMax: 1000 },
    resized: [
      { path: '/workspace', flags: 6, options: 'size=1048576,nr_inodes=1000' },
      { path: '/tmp', flags: 6, options: 'size=1048576' },
    ],
  })
  return Buffer.concat([
    encodeFrame(frameType.spawn, 1, encodeSpawn({ ...spec, stdin: 'later', wallMs: 0 })),
    encodeFrame(frameType.begin, 2, begin),
    encodeFrame(frameType.begin, 1, begin),
    encodeFrame(frameType.stdin, 1, Buffer.from('text')),
    encodeFrame(frameType.stdinEnd, 1),
    encodeFrame(frameType.finish, 2, word(0)),
    encodeFrame(frameType.finish, 1, word(255)),
    encodeFrame(frameType.finish, 1, word(0)),
  ])
}

function streamFrames(): Buffer {
  const piece = Buffer.alloc(200, 'x')
  return Buffer.concat([
    encodeFrame(frameType.spawn, 7, encodeSpawn({ ...spec, stdin: piece })),
    encodeFrame(frameType.stdin, 7, piece),
    encodeFrame(frameType.stdin, 7, piece),
    encodeFrame(frameType.stdinEnd, 7),
    encodeFrame(frameType.stdin, 8, piece),
  ])
}

/** Two processes with their own channels: one is used to its end, and one is closed while its guest writes. */
function channelFrames(): Buffer {
  const piece = Buffer.alloc(200, 'x')
  const own = encodeSpawn({ ...spec, channel: 'own', stdin: 'later' })
  return Buffer.concat([
    encodeFrame(frameType.spawn, 1, own),
    encodeFrame(frameType.spawn, 2, own),
    encodeFrame(frameType.channel, 1, piece),
    encodeFrame(frameType.hold, 1, word(held.channel)),
    encodeFrame(frameType.channel, 2, piece),
    encodeFrame(frameType.hold, 1, word(held.output)),
    encodeFrame(frameType.channelEnd, 1),
    encodeFrame(frameType.channelClose, 2),
    encodeFrame(frameType.channel, 2, piece),
    encodeFrame(frameType.channel, 3, piece),
  ])
}

function putFrames(): Buffer[] {
  const paths = [
    '/workspace/a',
    '/workspace/folder/b.txt',
    '/workspace/../etc/x',
    '/./x',
    `/${'n'.repeat(256)}`,
    'x',
    '//',
  ]
  return paths.map((path, index) => {
    const payload = new PayloadWriter()
      .u32(index % 2)
      .u32(0o644)
      .string(path)
      .bytes(Buffer.from('text'))
    return encodeFrame(frameType.put, 0, payload.finish())
  })
}

const wanted = [
  { path: 'out/chart.png', bytes: 1000 },
  { path: '../etc/passwd', bytes: 5 },
  { path: 'empty', bytes: 0 },
]

/** A folder in the fake kernel's format: each name after its length, and a zero at the end. */
function folderNames(...folders: readonly (readonly string[])[]): Buffer {
  const bytesOf = (name: string) => [Buffer.byteLength(name), ...Buffer.from(name)]
  return Buffer.from(folders.flatMap((names) => [...names.flatMap(bytesOf), 0]))
}

/** A listing of /proc with one process, then the files of that process that are read. */
function processFiles(name: string): Buffer {
  const status = `Name:\t${name}\nVmSize:\t  10 kB\nRssAnon:\t  5 kB\nVmSwap:\t 1 kB\nVmPTE:\t 2 kB\n`
  const stat = `7 (${name}) S 1 7 7 0 -1 4194560 1 2 3 4 50 60 70 80 20 0 1 0 12345 1000 10\n`
  return Buffer.concat([
    folderNames(['7']),
    Buffer.from(status),
    folderNames(['7', '1', 'self']),
    Buffer.from(stat),
    Buffer.from('\nPss_Anon:\t 4 kB\n'),
  ])
}

function word(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value >>> 0)
  return bytes
}
