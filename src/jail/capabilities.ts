/**
 * Capabilities: guests have none and can get none (empty bounding set, no_new_privs). Pid 1 keeps what it needs to
 * start guests and, later, spaces; all of it counts inside the cell's user namespace only.
 * Source: capabilities(7), linux/capability.h.
 */
const kill = 5n // end guests of another uid
const setgid = 6n // become the guest's gid
const setuid = 7n // become the guest's uid
const netAdmin = 12n // loopback of a space's network
const sysChroot = 18n // enter the guests' root
const sysAdmin = 21n // namespaces and mounts of a space

const mask = (...numbers: bigint[]): bigint => numbers.reduce((sum, number) => sum | (1n << number), 0n)

/** Without namespaces these count on the host itself: only what starting and ending guests of another uid takes. */
export const wardenCapabilities = mask(kill, setgid, setuid)

/** Of the zygote: its forks enter the namespaces, the root and the ids of their space. */
export function capabilitiesOfZygote(identity: 'own' | 'shared'): bigint {
  const always = mask(sysChroot, sysAdmin)
  return identity === 'own' ? always | mask(setgid, setuid) : always
}

/** Of a space's pid 1, when the space stands: it starts and ends guests, and resizes what they write to. */
export function capabilitiesOfSpace(identity: 'own' | 'shared'): bigint {
  const always = mask(sysChroot, sysAdmin)
  return identity === 'own' ? always | mask(kill, setgid, setuid) : always
}

export function capabilitiesOfPid1(identity: 'own' | 'shared'): bigint {
  const always = mask(netAdmin, sysChroot, sysAdmin)
  return identity === 'own' ? always | mask(kill, setgid, setuid) : always
}
