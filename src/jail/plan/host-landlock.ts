/**
 * Landlock on the host's own files (level `restricted`). Here it is the only protection of files, because there are no
 * mounts.
 * Stops: opening, listing, executing, changing, linking or removing anything that is not listed; TCP from ABI 4; device
 * ioctls from ABI 5; abstract sockets and signals outside from ABI 6. Does not stop: stat(), chdir() and readlink() of
 * any path; taking abstract names, attributes, chmod and the like, which seccomp refuses (shared-host-rules.ts).
 * Source: Documentation/userspace-api/landlock.rst, "Filesystem flags" and "Current limitations".
 */
import type { NetworkMode } from '../../core/network.ts'
import { access, bindAndConnectTcp, landlockRulesets } from './landlock.ts'
import type { LandlockPolicy } from './landlock.ts'
import type { Place } from './place.ts'

/** Files that engines read when they start. Not all of /proc, which shows what others run. */
const machineFacts = [
  '/proc/cpuinfo',
  '/proc/filesystems',
  '/proc/loadavg',
  '/proc/meminfo',
  '/proc/stat',
  '/proc/uptime',
  '/proc/version',
  '/proc/sys/kernel/cap_last_cap',
  '/proc/sys/kernel/ngroups_max',
  '/proc/sys/kernel/osrelease',
  '/proc/sys/kernel/ostype',
  '/proc/sys/kernel/pid_max',
  '/proc/sys/kernel/random',
  '/proc/sys/kernel/threads-max',
  '/proc/sys/vm/max_map_count',
  '/proc/sys/vm/overcommit_memory',
  '/sys/devices/system/cpu',
]

/**
 * In the guest's own entry, each by name: `net`, also below `task`, lists every connection of the host and the name of
 * every Unix socket, and `mountinfo` lists the host's mounts.
 */
const ownFacts = [
  'auxv',
  'cgroup',
  'cmdline',
  'comm',
  'environ',
  'fd',
  'fdinfo',
  'gid_map',
  'io',
  'limits',
  'maps',
  'oom_score',
  'oom_score_adj',
  'smaps',
  'smaps_rollup',
  'stat',
  'statm',
  'status',
  'uid_map',
].map((name) => `/proc/self/${name}`)

/** Files for programs that look up names; the users of the host stay hidden. */
const networkFiles = [
  '/etc/hosts',
  '/etc/nsswitch.conf',
  '/etc/resolv.conf',
  '/etc/services',
  '/etc/protocols',
]

export interface HostAccess {
  /** Host paths that may be read and executed. */
  readonly readable: readonly string[]
  readonly place: Place
  readonly network: NetworkMode
}

export function planHostLandlock({ readable, place, network }: HostAccess): LandlockPolicy {
  const { look, readFile, readFolder, useDevice, everything } = access
  return {
    rulesets: landlockRulesets(network === 'none' ? { handledNetwork: bindAndConnectTcp } : {}),
    rules: [
      ...readable.map((path) => ({ path, allowed: look })),
      ...(network === 'host' ? networkFiles : []).map((path) => ({ path, allowed: readFile })),
      // The guest's own entry alone: a rule holds for what the path leads to when it is made.
      ...[...machineFacts, ...ownFacts].map((path) => ({ path, allowed: readFile | readFolder })),
      ...['/dev/null', '/dev/full', '/dev/random', '/dev/urandom'].map((path) => ({
        path,
        allowed: useDevice,
      })),
      { path: '/dev/zero', allowed: readFile },
      { path: place.work ?? place.workspace, allowed: readFile | readFolder },
      { path: place.temporary, allowed: everything },
      { path: place.workspace, allowed: everything },
    ],
  }
}
