/**
 * Capabilities: guests have none and can get none (empty bounding set, no_new_privs). Pid 1 keeps what it needs to
 * start guests and, later, spaces; all of it counts inside the cell's user namespace only.
 * Source: capabilities(7), linux/capability.h.
 */
const kill = 5n // end guests of another uid
const setgid = 6n // become the guest's gid
const setuid = 7n // become the guest's uid
const netBindService = 10n // the ports of a space's doors
const netAdmin = 12n // loopback of a space's network
const sysChroot = 18n // enter the mounts and the root of a space
const sysAdmin = 21n // namespaces and mounts of a space

const mask = (...numbers: bigint[]): bigint => numbers.reduce((sum, number) => sum | (1n << number), 0n)

/**
 * Without namespaces these apply to the host itself, so they are only those for starting and ending guests of another
 * uid.
 */
export const wardenCapabilities = mask(kill, setgid, setuid)

/** For the zygote: its forks enter the namespaces, the root and the ids of their space. */
export function capabilitiesOfZygote(identity: 'own' | 'shared'): bigint {
  const always = mask(sysChroot, sysAdmin)
  return identity === 'own' ? always | mask(setgid, setuid) : always
}

/** For a space's pid 1, once the space is built: it starts and ends guests, and resizes their writable mounts. */
export function capabilitiesOfSpace(identity: 'own' | 'shared'): bigint {
  const always = mask(sysAdmin)
  return identity === 'own' ? always | mask(kill, setgid, setuid) : always
}

export function capabilitiesOfPid1(identity: 'own' | 'shared'): bigint {
  const always = mask(netAdmin, sysChroot, sysAdmin)
  return identity === 'own' ? always | mask(kill, setgid, setuid) : always
}

/** Pid 1 of a cell whose launchers make spaces. */
export function capabilitiesOfFamily(
  identity: 'own' | 'shared',
  { hasDoors }: { readonly hasDoors: boolean },
): bigint {
  return hasDoors ? capabilitiesOfPid1(identity) | mask(netBindService) : capabilitiesOfPid1(identity)
}
