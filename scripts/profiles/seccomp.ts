/** Seccomp profiles for containers with cells in them: Docker's default profile, plus what the launcher calls. */

export interface SeccompRule {
  readonly names: readonly string[]
  readonly action: string
  readonly errnoRet?: number
  readonly args?: readonly {
    readonly index: number
    readonly value: number
    readonly valueTwo?: number
    readonly op: string
  }[]
  readonly comment?: string
  readonly includes?: RuleCondition
  readonly excludes?: RuleCondition
}

interface RuleCondition {
  readonly caps?: readonly string[]
  readonly arches?: readonly string[]
  readonly minKernel?: string
}

/** The format of Docker and Podman. */
export interface DockerProfile {
  readonly defaultAction: string
  readonly defaultErrnoRet: number
  readonly archMap: readonly {
    readonly architecture: string
    readonly subArchitectures: readonly string[] | null
  }[]
  readonly syscalls: readonly SeccompRule[]
}

/** The format of the OCI runtime specification, which Kubernetes reads. It has no conditions. */
export interface OciProfile {
  readonly defaultAction: string
  readonly defaultErrnoRet: number
  readonly architectures: readonly string[]
  readonly syscalls: readonly SeccompRule[]
}

const newCgroupNamespace = 0x0200_0000

/** All calls of native/cell/ that an unprivileged container is refused. */
const launcherRules: readonly SeccompRule[] = [
  {
    names: [
      // Namespaces. A filter cannot read the flags of clone3, which are in memory, so it is all of clone3 or nothing.
      'clone3',
      // The cell's view of files.
      'mount',
      'umount2',
      'pivot_root',
      'open_tree',
      'move_mount',
      // The overlay of a cell's own view, which `mount` could create, too.
      'fsopen',
      'fsconfig',
      'fsmount',
      'mount_setattr',
      // The guests' root, and the cell's name. chroot is allowed by default, but not with --cap-drop=ALL.
      'chroot',
      'sethostname',
    ],
    action: 'SCMP_ACT_ALLOW',
    comment: 'lazaret: the launcher builds cells with these',
  },
  {
    names: ['unshare'],
    action: 'SCMP_ACT_ALLOW',
    args: [{ index: 0, value: newCgroupNamespace, op: 'SCMP_CMP_EQ' }],
    comment: 'lazaret: the cgroup namespace of a cell',
    // With that capability, the default profile allows all of unshare.
    excludes: { caps: ['CAP_SYS_ADMIN'] },
  },
]

/** Two rules with the same name and different actions would contradict each other. */
export function widenDockerProfile(original: DockerProfile): DockerProfile {
  const kept = original.syscalls.filter(
    (rule) => !(rule.names.includes('clone3') && rule.action === 'SCMP_ACT_ERRNO'),
  )
  return { ...original, syscalls: [...kept, ...launcherRules] }
}

/** Linux 4.8 or newer on x86-64 and arm64, for a container without a capability that changes what is allowed. */
export function toOciProfile(profile: DockerProfile): OciProfile {
  const architectures = ['SCMP_ARCH_X86_64', 'SCMP_ARCH_AARCH64'].flatMap((name) => [
    name,
    ...(profile.archMap.find(({ architecture }) => architecture === name)?.subArchitectures ?? []),
  ])
  const syscalls = profile.syscalls.filter(standsWithoutCapabilities).map(withoutConditions)
  const { defaultAction, defaultErrnoRet } = profile
  return { defaultAction, defaultErrnoRet, architectures, syscalls }
}

function withoutConditions({ names, action, errnoRet, args, comment }: SeccompRule): SeccompRule {
  return {
    names,
    action,
    ...(errnoRet === undefined ? {} : { errnoRet }),
    ...(args === undefined ? {} : { args }),
    ...(comment === undefined ? {} : { comment }),
  }
}

const ourArchitectures = ['amd64', 'x32', 'x86', 'arm64', 'arm']

function standsWithoutCapabilities({ includes = {}, excludes = {} }: SeccompRule): boolean {
  if (includes.caps !== undefined) return false
  if (includes.arches !== undefined && !includes.arches.some((name) => ourArchitectures.includes(name)))
    return false
  return !(excludes.arches?.some((name) => ourArchitectures.includes(name)) ?? false)
}
