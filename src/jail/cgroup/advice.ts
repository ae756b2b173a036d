/** How to get cgroups if there are none, or what to do without them. */
import type { Surroundings } from '../machine/surroundings.ts'

const delegation = 'Delegate=memory pids cpu'

export function adviseOnCgroups({ container, isRoot, hasCgroupVersion2 }: Surroundings): string {
  if (container === 'kubernetes')
    return 'Bound the pod as a whole: `resources.limits` for memory and cpu, and `podPidsLimit` of the kubelet.'
  if (container !== null)
    return 'Bound the container as a whole: `docker run --memory=2g --pids-limit=512 …`. Cgroups for each cell need root in the container and `--security-opt writable-cgroups=true` (Docker 29).'
  if (!hasCgroupVersion2)
    return isRoot
      ? 'Mount the controllers memory, pids and cpuacct of cgroup version 1, or boot with `systemd.unified_cgroup_hierarchy=1`.'
      : 'Start as root: cgroup version 1 cannot be delegated to a user. For version 2, boot with `systemd.unified_cgroup_hierarchy=1`.'
  const unit = [
    'In the unit of a service, where Node is the only process when it starts:',
    '  [Service]',
    `  ${delegation}`,
  ]
  return [
    ...(isRoot
      ? [
          'Mount the cgroup tree writable, or let systemd make a scope: that needs its D-Bus (`apt-get install dbus`).',
        ]
      : [
          'Start as root, or let this user have a service manager and its D-Bus:',
          '  sudo apt-get install dbus-user-session',
          '  sudo loginctl enable-linger "$USER"',
        ]),
    ...unit,
  ].join('\n')
}
