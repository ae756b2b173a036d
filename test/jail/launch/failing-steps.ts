/** For each record of a plan, a way in which it really fails: what is in the plan, and what must be reported. */
import { constants } from 'node:os'

import type { PlanRecord, recordNames } from '../../../src/jail/plan/plan-records.ts'

const { errno } = constants

export type RecordName = (typeof recordNames)[number]

export interface FailingStep {
  readonly name: RecordName
  readonly why: string
  /** Replaces the plan's record; absent if the record stays and one of its system calls is made to fail. */
  readonly record?: PlanRecord
  /** Records before it that cause the failure. */
  readonly before?: readonly PlanRecord[]
  /** The system call that fails with this errno from the launcher's start on. */
  readonly inject?: Injection
  readonly step: string
  readonly errno: number
  /** The reported record, if a record other than the wrong one notices the failure. */
  readonly reported?: RecordName
}

export interface Injection {
  /** The call's number by architecture. */
  readonly number: { readonly x64: number; readonly arm64: number }
  readonly errno: number
  readonly firstArgument?: number
}

const mount = { x64: 165, arm64: 40 }
const fsopen = { x64: 430, arm64: 430 }
const pivotRoot = { x64: 155, arm64: 41 }
const prctl = { x64: 157, arm64: 167 }
const setParentDeathSignal = 1
const setChildSubreaper = 36
const socket = { x64: 41, arm64: 198 }
const capset = { x64: 126, arm64: 91 }
const signalfd4 = { x64: 289, arm64: 74 }
const pidfdOpen = { x64: 434, arm64: 434 }
const clone3 = { x64: 435, arm64: 435 }
const setresuid = { x64: 117, arm64: 147 }

/** A slot that no plan uses. */
const freeSlot = 63
const newUser = 0x1000_0000
const shareFolders = 0x200
const unknownAttribute = 2 ** 31

function family({ secret, argv }: { readonly secret: Uint8Array; readonly argv: string[] }): PlanRecord {
  const slots = { listenSlot: freeSlot, firstFolderSlot: 0, folders: 0 }
  return { do: 'family', ...slots, secret, capabilities: 0n, folder: '/', argv, env: {} }
}

/** Steps of both kinds of plan. */
export const failingSteps: readonly FailingStep[] = [
  {
    name: 'divided-tmpfs',
    why: 'its folder is not there',
    record: {
      do: 'divided-tmpfs',
      path: 'not/there',
      flags: 0,
      options: 'size=64k',
      uid: 0,
      gid: 0,
      parts: [{ name: 'part', mode: 0o755 }],
    },
    step: 'mount a tmpfs of parts',
    errno: errno.ENOENT,
  },
  {
    name: 'open-tree',
    why: 'its source is not there',
    record: { do: 'open-tree', slot: freeSlot, path: '/not/there', attributes: 1 },
    step: "clone a bind's source",
    errno: errno.ENOENT,
  },
  {
    name: 'open-tree',
    why: 'its slot is taken',
    before: [{ do: 'open-write', slot: freeSlot, path: '/dev/null' }],
    record: { do: 'open-tree', slot: freeSlot, path: '/usr', attributes: 1 },
    step: 'fill a slot',
    errno: errno.EPROTO,
  },
  {
    name: 'open-write',
    why: 'the file is not there',
    record: { do: 'open-write', slot: freeSlot, path: '/not/there' },
    step: "open a cgroup's file",
    errno: errno.ENOENT,
  },
  {
    name: 'open-write',
    why: 'its slot does not exist',
    record: { do: 'open-write', slot: 64, path: '/dev/null' },
    step: 'fill a slot',
    errno: errno.EPROTO,
  },
  {
    name: 'id-maps',
    why: 'the map is none',
    record: { do: 'id-maps', uidMap: 'no map', gidMap: '0 0 1', denySetgroups: true },
    reported: 'clone',
    step: 'write the id maps',
    errno: errno.EINVAL,
  },
  {
    name: 'become',
    why: 'it would stay root',
    record: { do: 'become', uid: 0, gid: 0 },
    step: "choose the cell's uid",
    errno: errno.EPROTO,
  },
  {
    name: 'clone',
    why: 'the flags contradict each other',
    record: { do: 'clone', flags: newUser | shareFolders },
    step: 'create the namespaces',
    errno: errno.EINVAL,
  },
  {
    name: 'clone',
    why: 'the machine allows no namespaces',
    inject: { number: clone3, errno: errno.EPERM },
    step: 'create the namespaces',
    errno: errno.EPERM,
  },
  {
    name: 'join',
    why: 'nothing was opened',
    record: { do: 'join', slot: freeSlot },
    step: 'empty a slot',
    errno: errno.EPROTO,
  },
  {
    name: 'join',
    why: 'the group takes no more',
    before: [{ do: 'open-write', slot: freeSlot, path: '/dev/full' }],
    record: { do: 'join', slot: freeSlot },
    step: 'join a cgroup',
    errno: errno.ENOSPC,
  },
  {
    name: 'guard',
    why: 'it cannot be told of the stub’s death',
    inject: { number: prctl, errno: errno.EINVAL, firstArgument: setParentDeathSignal },
    step: 'die with the stub',
    errno: errno.EINVAL,
  },
  {
    name: 'unshare',
    why: 'the flags mean nothing',
    record: { do: 'unshare', flags: 1 },
    step: 'unshare a namespace',
    errno: errno.EINVAL,
  },
  {
    name: 'private',
    why: 'no mount is allowed',
    inject: { number: mount, errno: errno.EPERM },
    step: 'make the mounts private',
    errno: errno.EPERM,
  },
  {
    name: 'root',
    why: 'its place is not there',
    record: { do: 'root', at: '/not/there', options: '', inside: 'cell' },
    step: 'mount the root tmpfs',
    errno: errno.ENOENT,
  },
  {
    name: 'root',
    why: 'the options mean nothing',
    record: { do: 'root', at: '/tmp', options: 'size=much', inside: 'cell' },
    step: 'mount the root tmpfs',
    errno: errno.EINVAL,
  },
  {
    name: 'directory',
    why: 'its parent is not there',
    record: { do: 'directory', path: 'not/there', mode: 0o755 },
    step: 'make a folder',
    errno: errno.ENOENT,
  },
  {
    name: 'file',
    why: 'it exists',
    before: [{ do: 'file', path: 'twice', mode: 0o444, content: Buffer.alloc(0) }],
    record: { do: 'file', path: 'twice', mode: 0o444, content: Buffer.alloc(0) },
    step: 'make a file',
    errno: errno.EEXIST,
  },
  {
    name: 'file',
    why: 'what it lies on is full',
    before: [
      { do: 'directory', path: 'small', mode: 0o755 },
      { do: 'mount', type: 'tmpfs', path: 'small', flags: 0, options: 'size=4096' },
    ],
    record: { do: 'file', path: 'small/large', mode: 0o444, content: Buffer.alloc(20_000) },
    step: 'write a file',
    errno: errno.ENOSPC,
  },
  {
    name: 'symlink',
    why: 'something of that name exists',
    before: [{ do: 'directory', path: 'twice', mode: 0o755 }],
    record: { do: 'symlink', target: 'usr/bin', path: 'twice' },
    step: 'make a link',
    errno: errno.EEXIST,
  },
  {
    name: 'bind',
    why: 'nothing was opened',
    record: { do: 'bind', slot: freeSlot, path: 'usr' },
    step: 'empty a slot',
    errno: errno.EPROTO,
  },
  {
    name: 'open-lower',
    why: 'it is not there',
    record: { do: 'open-lower', slot: freeSlot, path: '/not/there' },
    step: 'take the lower layer of a view',
    errno: errno.ENOENT,
  },
  {
    name: 'own-view',
    why: 'nothing was opened',
    record: { do: 'own-view', slot: freeSlot, path: '/proc', empty: 'proc', attributes: 1 },
    step: 'empty a slot',
    errno: errno.EPROTO,
  },
  {
    name: 'own-view',
    why: 'the machine makes no overlays',
    inject: { number: fsopen, errno: errno.EPERM },
    step: 'open overlayfs',
    errno: errno.EPERM,
  },
  {
    name: 'bind-own',
    why: 'there is no such part',
    record: { do: 'bind-own', at: '/proc', source: 'not/there', path: 'usr' },
    step: 'find a part of a view',
    errno: errno.ENOENT,
  },
  {
    name: 'bind-own',
    why: 'it lies on another file system',
    record: { do: 'bind-own', at: '/', source: 'proc', path: 'usr' },
    step: 'find a part of a view',
    errno: errno.EXDEV,
  },
  {
    name: 'mount',
    why: 'the kernel does not know the file system',
    record: { do: 'mount', type: 'nosuchfs', path: 'dev/pts', flags: 0, options: '' },
    step: 'mount a file system',
    errno: errno.ENODEV,
  },
  {
    name: 'pivot',
    why: 'it is not allowed',
    inject: { number: pivotRoot, errno: errno.EPERM },
    step: 'make the tmpfs the root',
    errno: errno.EPERM,
  },
  {
    name: 'count-locks',
    why: 'the list of locks lies below what is no folder',
    record: { do: 'count-locks', path: '/proc/version/locks', most: 1 },
    step: 'open the list of locks',
    errno: errno.ENOTDIR,
  },
  {
    name: 'setting',
    why: 'it lies below what is no folder',
    record: { do: 'setting', path: '/proc/version/setting', value: '1' },
    step: 'open a setting',
    errno: errno.ENOTDIR,
  },
  {
    name: 'setting',
    why: 'the value is no number',
    record: { do: 'setting', path: '/proc/sys/user/max_inotify_instances', value: 'some' },
    step: 'change a setting',
    errno: errno.EINVAL,
  },
  {
    name: 'clone',
    why: 'a setting before it is one of the host’s network',
    before: [{ do: 'setting', path: '/proc/sys/net/ipv4/tcp_rmem', value: 'some' }],
    reported: 'setting',
    step: 'open a setting',
    errno: errno.EPERM,
  },
  {
    name: 'mask',
    why: 'what it hides is a folder',
    record: { do: 'mask', path: '/proc/self' },
    step: 'hide a file',
    errno: errno.ENOTDIR,
  },
  {
    name: 'read-only',
    why: 'the kernel does not know the attribute',
    record: { do: 'read-only', path: '/proc/sys', attributes: unknownAttribute },
    step: 'make a path read-only',
    errno: errno.EINVAL,
  },
  {
    name: 'set-attributes',
    why: 'the path is no mount',
    record: { do: 'set-attributes', path: '/cell', attributes: 1 },
    step: 'restrict a mount',
    errno: errno.EINVAL,
  },
  {
    name: 'root-guard',
    why: 'its place is not there',
    record: { do: 'root-guard', path: '/not/there' },
    step: "enter the cell's root",
    errno: errno.ENOENT,
  },
  {
    name: 'loopback',
    why: 'there are no sockets',
    inject: { number: socket, errno: errno.EAFNOSUPPORT },
    step: 'open a socket for the loopback',
    errno: errno.EAFNOSUPPORT,
  },
  {
    name: 'hostname',
    why: 'it is too long',
    record: { do: 'hostname', name: 'n'.repeat(65) },
    step: 'set the hostname',
    errno: errno.EINVAL,
  },
  {
    name: 'guest-filter',
    why: 'it is empty',
    record: { do: 'guest-filter', program: Buffer.alloc(0) },
    step: 'read the system call filter',
    errno: errno.EPROTO,
  },
  {
    name: 'guest-filter',
    why: 'it has more instructions than the kernel takes',
    record: { do: 'guest-filter', program: Buffer.alloc(4097 * 8) },
    step: 'read the system call filter',
    errno: errno.EPROTO,
  },
  {
    name: 'listen',
    why: 'its name is too long',
    record: { do: 'listen', slot: freeSlot, name: 'n'.repeat(108) },
    step: "read the cell's name",
    errno: errno.EPROTO,
  },
  {
    name: 'listen',
    why: 'somebody else has its name',
    before: [{ do: 'listen', slot: freeSlot - 1, name: 'lazaret-test-taken' }],
    record: { do: 'listen', slot: freeSlot, name: 'lazaret-test-taken' },
    step: "take the cell's name",
    errno: errno.EADDRINUSE,
  },
  {
    name: 'read-ahead',
    why: 'the path does not begin at the root',
    record: { do: 'read-ahead', path: 'engine' },
    step: 'read the path of a program',
    errno: errno.EPROTO,
  },
  {
    name: 'reach-relay',
    why: 'nobody has its name',
    record: { do: 'reach-relay', name: 'lazaret-test-no-relay', secret: Buffer.alloc(32) },
    step: 'reach the relay',
    errno: errno.ECONNREFUSED,
  },
  {
    name: 'reach-relay',
    why: 'the secret is too short',
    record: { do: 'reach-relay', name: 'lazaret-test-no-relay', secret: Buffer.alloc(31) },
    step: 'read where the relay is',
    errno: errno.EPROTO,
  },
  {
    name: 'door',
    why: 'the cell has not reached the relay',
    record: { do: 'door', id: 1, token: Buffer.alloc(16), routes: [], listeners: [] },
    step: 'read the door',
    errno: errno.EPROTO,
  },
  {
    name: 'open-folder',
    why: 'the folder is not there',
    record: { do: 'open-folder', slot: freeSlot, path: '/not/there' },
    step: 'open the folder of cgroups',
    errno: errno.ENOENT,
  },
  {
    name: 'open-at',
    why: 'there is no folder',
    record: { do: 'open-at', slot: freeSlot, folder: freeSlot, path: 'tasks' },
    step: 'find the folder of cgroups',
    errno: errno.EPROTO,
  },
  {
    name: 'open-at',
    why: 'the file is a link',
    before: [{ do: 'open-folder', slot: freeSlot - 1, path: '/proc/self' }],
    record: { do: 'open-at', slot: freeSlot, folder: freeSlot - 1, path: 'exe' },
    step: "open a cgroup's file",
    errno: errno.ELOOP,
  },
  {
    name: 'guest-join',
    why: 'nothing was opened',
    record: { do: 'guest-join', slot: freeSlot },
    step: 'empty a slot',
    errno: errno.EPROTO,
  },
  {
    name: 'forks',
    why: 'there is no zygote',
    record: { do: 'forks', path: '/cell' },
    step: 'find the zygote',
    errno: errno.EPROTO,
  },
  {
    name: 'open-workspace',
    why: 'it is not there',
    record: { do: 'open-workspace', slot: freeSlot, path: '/not/there', uid: 0, gid: 0 },
    step: 'take the workspace',
    errno: errno.ENOENT,
  },
  {
    name: 'claim-ids',
    why: 'there are more blocks than are looked at',
    record: { do: 'claim-ids', first: 0, ids: 256, count: 2 ** 32 - 1, mustBeIdle: true },
    step: 'read a claim',
    errno: errno.EPROTO,
  },
  {
    name: 'restrict',
    why: 'there is no policy',
    record: { do: 'restrict' },
    step: 'find a Landlock policy',
    errno: errno.EPROTO,
  },
  {
    name: 'family',
    why: 'nobody listens',
    record: family({ secret: Buffer.alloc(32), argv: ['/usr/bin/true'] }),
    step: 'empty a slot',
    errno: errno.EPROTO,
  },
  {
    name: 'family',
    why: 'the secret is too short',
    before: [{ do: 'listen', slot: freeSlot, name: 'lazaret-test-family' }],
    record: family({ secret: Buffer.alloc(31), argv: ['/usr/bin/true'] }),
    step: 'read the family',
    errno: errno.EPROTO,
  },
  {
    name: 'family',
    why: 'the interpreter is not there',
    before: [{ do: 'listen', slot: freeSlot, name: 'lazaret-test-family' }],
    record: family({ secret: Buffer.alloc(32), argv: ['/not/there'] }),
    step: 'execute the zygote',
    errno: errno.ENOENT,
  },
  {
    name: 'family',
    why: 'the interpreter is none',
    before: [{ do: 'listen', slot: freeSlot, name: 'lazaret-test-family' }],
    record: family({ secret: Buffer.alloc(32), argv: ['/usr/bin/true'] }),
    step: 'The zygote ended.',
    errno: 0,
  },
  {
    name: 'keep-capabilities',
    why: 'capabilities cannot be changed',
    inject: { number: capset, errno: errno.EPERM },
    step: 'set the inheritable capabilities',
    errno: errno.EPERM,
  },
  {
    name: 'serve',
    why: 'there is no descriptor for signals',
    inject: { number: signalfd4, errno: errno.EMFILE },
    step: 'open the signal descriptor',
    errno: errno.EMFILE,
  },
]

/** Steps of a plan that root starts. Another user's plan has no such records, or fails at them earlier. */
export const failingStepsOfRoot: readonly FailingStep[] = [
  {
    name: 'become',
    why: 'the kernel refuses the id',
    inject: { number: setresuid, errno: errno.EAGAIN },
    step: "become the cell's uid",
    errno: errno.EAGAIN,
  },
  {
    name: 'set-ids',
    why: 'the id has no place in the map',
    record: { do: 'set-ids', uid: 77, gid: 77 },
    step: 'take the inner gid',
    errno: errno.EINVAL,
  },
]

export const failingStepsOfOthers: readonly FailingStep[] = [
  {
    name: 'become',
    why: 'an ordinary user cannot become another',
    record: { do: 'become', uid: 4242, gid: 4242 },
    step: 'drop the groups',
    errno: errno.EPERM,
  },
  {
    name: 'set-ids',
    why: 'the map of one id forbids to change groups',
    record: { do: 'set-ids', uid: 1000, gid: 1000 },
    step: 'drop the groups inside',
    errno: errno.EPERM,
  },
]

/** Steps of a plan without namespaces. */
export const failingStepsOfWardens: readonly FailingStep[] = [
  {
    name: 'work',
    why: 'the folder exists',
    record: { do: 'work', path: '/usr', uid: 77, gid: 77, bytesMax: 1, entriesMax: 1 },
    step: 'make the work folder',
    errno: errno.EEXIST,
  },
  {
    name: 'work',
    why: 'the path does not begin at the root',
    record: { do: 'work', path: 'work', uid: 77, gid: 77, bytesMax: 1, entriesMax: 1 },
    step: 'read the work folder',
    errno: errno.EPROTO,
  },
  {
    name: 'take-ids',
    why: 'it would stay root',
    record: { do: 'take-ids', uid: 0, gid: 0, mask: 0n },
    step: "choose the cell's uid",
    errno: errno.EPROTO,
  },
  {
    name: 'confine',
    why: 'orphans cannot be had back',
    inject: { number: prctl, errno: errno.EINVAL, firstArgument: setChildSubreaper },
    step: 'become a subreaper',
    errno: errno.EINVAL,
  },
  {
    name: 'warden',
    why: 'it cannot be held',
    inject: { number: pidfdOpen, errno: errno.ENOSYS },
    step: 'hold the warden',
    errno: errno.ENOSYS,
  },
  {
    name: 'remove',
    why: 'the path does not begin at the root',
    record: { do: 'remove', path: 'work', endsGuests: false },
    step: 'read the work folder',
    errno: errno.EPROTO,
  },
]

/** Where to insert a step that this user's plan does not have: before this record. */
export const placeOf: Partial<Record<RecordName, RecordName>> = {
  'divided-tmpfs': 'pivot',
  'open-write': 'id-maps',
  'claim-ids': 'clone',
  join: 'guard',
  'set-ids': 'guard',
  become: 'clone',
  'guest-ids': 'guest-landlock',
  'take-ids': 'confine',
  remove: 'serve',
  listen: 'clone',
  'open-folder': 'clone',
  'open-at': 'clone',
  'guest-join': 'guard',
  forks: 'keep-capabilities',
  restrict: 'guest-landlock',
  'open-workspace': 'pivot',
  family: 'serve',
  setting: 'count-locks',
  'reach-relay': 'clone',
  'read-ahead': 'clone',
  door: 'hostname',
}
