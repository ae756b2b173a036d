/** What refused a step of building a cell, and the exact change that allows it. */
import type { PlanRecord } from '../plan/plan-records.ts'
import type { Wall } from '../plan/shape.ts'
import type { Surroundings, Sysctl } from './surroundings.ts'

/** A step that failed, with its errno's name. `record` is null for the steps of starting a guest. */
export interface Refusal {
  readonly record: PlanRecord | null
  readonly step: string
  readonly errno: string
}

/** The errnos with which kernels and their policies refuse. */
const refusals = [
  'EPERM',
  'EACCES',
  'EUSERS',
  'ENOSPC',
  'EINVAL',
  'ENOSYS',
  'ENODEV',
  'ENOTSUP',
  'EOPNOTSUPP',
]
/** The same for steps on paths. Other errnos concern the path itself, which this user may not be able to reach. */
const refusalsOfPaths = ['EPERM', 'ENOSYS']

const scope =
  'Guests with the uid of this process need Landlock’s scope of signals: Linux 6.12 or later. Elsewhere start as root, so that guests get ids of their own, or allow user namespaces.'

/** Steps of starting a guest. */
const adviceOnGuests: Readonly<Record<string, string>> = {
  'execute the program':
    'Guests may not execute it: here they have ids of their own, or the file system is mounted noexec. Install the interpreter and this package where every user can read and execute them.',
  'enter the working folder':
    'Guests have ids of their own here, and may not enter their folder: set TMPDIR to one that every user may enter.',
  'set an rlimit':
    'This process has the hard limit 0 on core files (`LimitCORE=` of systemd, `--ulimit core=` of Docker), while /proc/sys/kernel/core_pattern names a collector of cores, which would start for each guest that crashes: raise the limit to 1 byte or more.',
  'apply seccomp':
    'The kernel has no seccomp filters: it needs CONFIG_SECCOMP_FILTER=y, which the kernels of all distributions have.',
}

const namespaceSteps: readonly PlanRecord['do'][] = ['clone', 'id-maps', 'become', 'set-ids', 'unshare']
/** Steps that show folders through inodes of the cell's own. */
const viewSteps: readonly PlanRecord['do'][] = ['open-lower', 'own-view', 'bind-own']
const mountSteps: readonly PlanRecord['do'][] = [
  'open-tree',
  'private',
  'root',
  'bind',
  ...viewSteps,
  'mount',
  'pivot',
  'mask',
  'read-only',
  'set-attributes',
  'root-guard',
  'hostname',
  'loopback',
]

/** The kernel version that the launcher needs: Landlock is the newest part, and no cell is built without it. */
const kernelMin = [5, 13] as const

export const profilesFolder = 'node_modules/lazaret/profiles'

/** The fix, or undefined if the step failed for another reason than the machine's policy. */
export function adviseOn(refusal: Refusal, around: Surroundings): string | undefined {
  if (!refusals.includes(refusal.errno)) return undefined
  if (refusal.step === 'apply Landlock') return adviseOnLandlock(around)
  if (refusal.record === null) return adviceOnGuests[refusal.step]
  const step = refusal.record.do
  if (step === 'confine') return isOld(around) ? adviseOnLandlock(around) : scope
  if (step === 'open-tree' && !refusalsOfPaths.includes(refusal.errno)) return undefined
  if (isAboutIds(refusal)) return adviseOnUnmappedIds(around)
  const isMount = mountSteps.includes(step)
  if (isMount && refusal.errno === 'ENOSPC')
    return 'There are too many mounts here: end what holds them, or raise `fs.mount-max`.'
  if (!isMount && !namespaceSteps.includes(step)) return undefined
  const what = isMount ? 'Mounts inside a user namespace are' : 'New user namespaces are'
  return adviseOnPolicy(refusal, { what, isMount }, around)
}

/** Whether this is temporary load, and not the machine's policy: too many namespaces, or too many mounts. */
export function isExhaustion({ record, errno }: Refusal, around: Surroundings): boolean {
  if (errno !== 'ENOSPC' || record === null) return false
  return (
    mountSteps.includes(record.do) ||
    (record.do === 'clone' && findCount(errno, around.sysctls) === undefined)
  )
}

/** Whether the kernel refuses to make a view of a folder, rather than having no room for it at present. */
export function isViewRefusal({ record, errno }: Refusal): boolean {
  return record !== null && viewSteps.includes(record.do) && errno !== 'ENOSPC' && refusals.includes(errno)
}

/** Whether a step is part of the wall, so that a weaker wall can do without it. */
export function isOfWall(wall: Wall, refusal: Refusal): boolean {
  const step = refusal.record?.do
  if (wall === 'landlock') return step === 'confine' || refusal.step === 'apply Landlock'
  if (wall === 'none' || step === undefined || isAboutIds(refusal)) return false
  return namespaceSteps.includes(step) || mountSteps.includes(step)
}

/** Steps that use the cell's ids: for an id that does not exist the kernel answers EINVAL. */
function isAboutIds({ record, errno }: Refusal): boolean {
  return errno === 'EINVAL' && ['become', 'take-ids', 'work'].includes(record?.do ?? '')
}

interface Missing {
  readonly what: string
  readonly isMount: boolean
}

/** In order of certainty: causes that can be observed come before causes that can only be guessed. */
function adviseOnPolicy(
  { record, errno }: Refusal,
  { what, isMount }: Missing,
  around: Surroundings,
): string {
  const { container, isFiltered, appArmor, sysctls } = around
  if (isOld(around)) return `${what} missing: ${describeKernel(around)}; ${needKernel}`
  const count = findCount(errno, sysctls)
  if (!isMount && count !== undefined) return adviseOnCount(count)
  if (!isMount && errno === 'ENOSPC')
    return `${what} used up: too many are alive, or they are nested 32 deep. End what holds them, or raise \`user.max_user_namespaces\`.`
  const isProc = record?.do === 'mount' && record.type === 'proc'
  if (isProc && around.isProcMasked) return adviseOnMaskedProc(container)
  if (around.isRoot && !around.canAdminister) return adviseOnPoorRoot(container)
  // Root's cells make theirs as the ordinary user that they then are.
  if (!(isMount && around.canAdminister) && sysctls['kernel.unprivileged_userns_clone'] === 0)
    return `${what} for root only here, and cells do not run as root. ${setSysctl('kernel.unprivileged_userns_clone', 1)}`
  if (
    container === null &&
    !around.canAdminister &&
    sysctls['kernel.apparmor_restrict_unprivileged_userns'] === 1
  )
    return adviseOnUbuntu()
  if (container !== null || isFiltered) return adviseOnContainer(what, around)
  if (appArmor !== null && appArmor !== 'unconfined')
    return `${what} refused, probably by the AppArmor profile of this process, ${appArmor}: allow it \`userns,\`, \`mount,\`, \`umount,\` and \`pivot_root,\`.`
  if (errno === 'EINVAL' || errno === 'ENOSYS' || errno === 'ENODEV')
    return `${what} unknown to this kernel: it needs CONFIG_USER_NS, CONFIG_PID_NS, CONFIG_NET_NS, CONFIG_IPC_NS, CONFIG_UTS_NS and CONFIG_CGROUPS.`
  return `${what} refused, and nothing here shows which part of the machine refused it: look into \`sudo dmesg\` and the policy of this machine (SELinux, seccomp of the service manager: \`RestrictNamespaces=no\` and no \`SystemCallFilter=\` in a unit).`
}

const needKernel = `cells need Linux ${kernelMin.join('.')} or later.`

function isOld({ kernel: [major, minor] }: Surroundings): boolean {
  return major < kernelMin[0] || (major === kernelMin[0] && minor < kernelMin[1])
}

function describeKernel({ kernel }: Surroundings): string {
  return `this is Linux ${kernel.join('.')}`
}

function adviseOnLandlock(around: Surroundings): string {
  if (isOld(around)) return `Landlock is missing: ${describeKernel(around)}; ${needKernel}`
  const boot =
    'add `landlock` to the list in `cat /sys/kernel/security/lsm`, give it to the kernel as `lsm=…` and boot again'
  const filter = around.isFiltered
    ? `A seccomp filter is on this process and may refuse it: in a container use ${profilesFolder}/docker/seccomp.json. Otherwise `
    : ''
  return `Landlock is missing. ${filter}${filter === '' ? boot.replace('add', 'Add') : boot}.`
}

function findCount(errno: string, sysctls: Surroundings['sysctls']): Sysctl | undefined {
  if (errno !== 'ENOSPC' && errno !== 'EUSERS' && errno !== 'EPERM') return undefined
  const names = Object.keys(sysctls) as Sysctl[]
  return names.find((name) => name.startsWith('user.max_') && sysctls[name] === 0)
}

function adviseOnCount(name: Sysctl): string {
  return `New namespaces are refused: \`${name}\` is 0. ${setSysctl(name, 15_000)}`
}

function setSysctl(name: Sysctl, value: number): string {
  return `As root, for now and for good:\n  echo '${name} = ${value}' | sudo tee /etc/sysctl.d/90-lazaret.conf\n  sudo sysctl --system`
}

/** Why the first answer is not the sysctl: it would lift the restriction for every program of the machine. */
function adviseOnUbuntu(): string {
  return [
    'AppArmor takes the capabilities from user namespaces of ordinary users (`kernel.apparmor_restrict_unprivileged_userns` is 1, as on Ubuntu 23.10 and later). Allow the launcher, and it alone:',
    '  npx lazaret doctor --apparmor | sudo tee /etc/apparmor.d/lazaret-cell',
    '  sudo apparmor_parser -r /etc/apparmor.d/lazaret-cell',
  ].join('\n')
}

function adviseOnMaskedProc(container: Surroundings['container']): string {
  const why =
    'A /proc of the cell’s own is refused, because parts of the /proc here are masked, and then the kernel refuses to mount a full one.'
  if (container === 'kubernetes')
    return `${why} In the pod: \`hostUsers: false\`, and in the container \`securityContext: { procMount: Unmasked }\`.`
  return `${why} Start the container with \`--security-opt systempaths=unconfined\` (Podman: \`--security-opt unmask=ALL\`).`
}

function adviseOnUnmappedIds({ idsMax }: Surroundings): string {
  const room = 4096
  const example =
    idsMax > 2 * room ? `for example \`{ first: ${idsMax - room}, count: ${room} }\`` : 'inside it'
  return `The ids of cells do not exist here: this is a user namespace with ids up to ${idsMax - 1} (\`cat /proc/self/uid_map\`). Set \`uidRange\` to ids that exist and that nobody else uses, ${example}.`
}

function adviseOnPoorRoot(container: Surroundings['container']): string {
  const who = 'This is root without CAP_SYS_ADMIN, which may neither mount nor map ids for others.'
  if (container === 'kubernetes')
    return `${who} Run as an ordinary user: \`securityContext: { runAsUser: 1000, runAsNonRoot: true }\`, with the profiles in docs/operate/deployment.md.`
  return `${who} Run as an ordinary user, who needs no privilege:\n${dockerFlags()}`
}

function adviseOnContainer(what: string, around: Surroundings): string {
  const by = around.isFiltered ? 'the seccomp filter that is on this process' : 'the container'
  const confined =
    around.appArmor === null || around.appArmor === 'unconfined'
      ? ''
      : ` or the AppArmor profile ${around.appArmor}`
  const start = `${what} refused by ${by}${confined}.`
  if (around.container === 'kubernetes')
    return `${start} See docs/operate/deployment.md for the pod’s \`seccompProfile\`, \`appArmorProfile\`, \`procMount\` and \`hostUsers\`.`
  if (around.container === null)
    return `${start} In a systemd unit take away \`RestrictNamespaces=\` and \`SystemCallFilter=\`; start a container without --privileged, but with:\n${dockerFlags()}`
  return `${start} Start the container without --privileged, but with:\n${dockerFlags()}`
}

/** Also for ordinary users in the container: its root lacks the capabilities that root's cells need. */
function dockerFlags(): string {
  return [
    '  docker run --user 1000:1000 \\',
    `    --security-opt seccomp=${profilesFolder}/docker/seccomp.json \\`,
    '    --security-opt apparmor=unconfined --security-opt systempaths=unconfined …',
    'Where the host is Ubuntu 23.10 or later: apparmor=lazaret-container, see docs/operate/deployment.md.',
  ].join('\n')
}
