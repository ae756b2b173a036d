/**
 * Landlock: the guest sees only the paths listed here, even if a mount is wrong; from ABI 6 it also cannot reach
 * abstract sockets or signal processes outside its own domain.
 * Stops: opening any other path. Does not stop: descriptors opened before it applies; stat() of a path.
 * Needs: Linux 5.13 (ABI 1). Source: linux/landlock.h, Documentation/userspace-api/landlock.rst.
 */
export interface LandlockRuleset {
  readonly abi: number
  /** Size of the attribute struct that this ABI knows. */
  readonly attributeBytes: number
  readonly handledFiles: number
  readonly handledNetwork: number
  readonly scoped: number
}

export interface LandlockPolicy {
  /** Newest first; the launcher takes the first one that the kernel supports. */
  readonly rulesets: readonly LandlockRuleset[]
  readonly rules: readonly { readonly path: string; readonly allowed: number }[]
  /** TCP ports that may be bound, if not all may: from ABI 4 on. */
  readonly bindable?: readonly PortRange[]
}

export interface PortRange {
  readonly first: number
  readonly last: number
}

const execute = 1 << 0
const writeFile = 1 << 1
const readFile = 1 << 2
const readFolder = 1 << 3
const refer = 1 << 13
const truncate = 1 << 14
const ioctlDevice = 1 << 15
const filesAbi1 = (1 << 13) - 1
const scopeAbstractSocket = 1 << 0
const scopeSignal = 1 << 1
const everything = filesAbi1 | refer | truncate | ioctlDevice
const useDevice = readFile | writeFile | truncate | ioctlDevice
const look = execute | readFile | readFolder
const bindTcp = 0b01
export const bindAndConnectTcp = 0b11

/** Groups of rights, by purpose. */
export const access = { look, readFile, readFolder, useDevice, everything } as const

/** One row for each ABI, newest first: each added rights, or a field of the struct. */
export function landlockRulesets({ handledNetwork = 0 } = {}): readonly LandlockRuleset[] {
  const scoped = scopeAbstractSocket | scopeSignal
  const upToTruncate = filesAbi1 | refer | truncate
  return [
    { abi: 6, attributeBytes: 24, handledFiles: everything, handledNetwork, scoped },
    { abi: 5, attributeBytes: 16, handledFiles: everything, handledNetwork, scoped: 0 },
    { abi: 4, attributeBytes: 16, handledFiles: upToTruncate, handledNetwork, scoped: 0 },
    { abi: 3, attributeBytes: 8, handledFiles: upToTruncate, handledNetwork: 0, scoped: 0 },
    { abi: 2, attributeBytes: 8, handledFiles: filesAbi1 | refer, handledNetwork: 0, scoped: 0 },
    { abi: 1, attributeBytes: 8, handledFiles: filesAbi1, handledNetwork: 0, scoped: 0 },
  ]
}

export interface MoreRights {
  readonly writable?: readonly string[]
  /** TCP ports of the host's network that guests may not bind. */
  readonly protectedPorts?: readonly number[]
}

/** Including port 0, which asks the kernel for any free port. */
export function allPortsBut(ports: readonly number[]): PortRange[] {
  const sorted = [...new Set(ports)].toSorted((a, b) => a - b)
  const firsts = [0, ...sorted.map((port) => port + 1)]
  const lasts = [...sorted.map((port) => port - 1), 65_535]
  return firsts
    .map((first, index) => ({ first, last: lasts[index] ?? 65_535 }))
    .filter(({ first, last }) => first <= last)
}

/** `readable` are the folders that the mount plan binds read-only. */
export function planLandlock(readable: readonly string[], more: MoreRights = {}): LandlockPolicy {
  const { writable = [], protectedPorts = [] } = more
  const protects = protectedPorts.length > 0
  return {
    // The network namespace is the wall for TCP, and loopback inside it is the guest's own. In the host's network, some
    // ports may belong to others.
    rulesets: landlockRulesets(protects ? { handledNetwork: bindTcp } : {}),
    ...(protects ? { bindable: allPortsBut(protectedPorts) } : {}),
    rules: [
      // Rights are inherited downwards; listing names is harmless, the mounts decide what there is to list.
      { path: '/', allowed: readFolder },
      ...readable.map((path) => ({ path, allowed: look })),
      // Truncation too: a shell's `echo > /proc/self/…` opens with O_TRUNC.
      { path: '/proc', allowed: readFile | readFolder | writeFile | truncate },
      { path: '/dev', allowed: readFolder },
      ...['/dev/null', '/dev/full', '/dev/random', '/dev/urandom', '/dev/tty'].map((path) => ({
        path,
        allowed: useDevice,
      })),
      // Never for writing: mapped shared and writable it is memory that neither RLIMIT_DATA nor RSS counts.
      { path: '/dev/zero', allowed: readFile | ioctlDevice },
      { path: '/dev/pts', allowed: useDevice | readFolder },
      { path: '/dev/shm', allowed: everything },
      { path: '/tmp', allowed: everything },
      { path: '/workspace', allowed: everything },
      ...writable.map((path) => ({ path, allowed: everything })),
    ],
  }
}
