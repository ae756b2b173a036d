/** How to get cgroups if there are none, or what to do without them. */
import type { Surroundings } from '../machine/surroundings.ts'

/** The controllers are named because a user's own service manager does not pass `cpu` on by default. */
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
  return [
    `${isRoot ? 'Have' : 'Start as root, or have'} systemd delegate a cgroup. In the unit of the service:`,
    '  [Service]',
    `  ${delegation}`,
    'Once, by hand:',
    `  systemd-run ${isRoot ? '' : '--user '}--scope -p '${delegation}' node server.js`,
    'Node must be the only process there when it starts: name it, not npm.',
  ].join('\n')
}
