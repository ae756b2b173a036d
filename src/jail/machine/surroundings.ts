/**
 * What restricts this process: containers, profiles, sysctls. Never used to decide whether a cell can be built, which
 * is found out by building one; only to say what refused, and what to change. Sources: proc(5), user_namespaces(7), the
 * kernel's Documentation/admin-guide/LSM/apparmor.rst.
 */
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { release } from 'node:os'

export interface Surroundings {
  readonly isRoot: boolean
  /** CAP_SYS_ADMIN, which root in a container lacks. */
  readonly canAdminister: boolean
  readonly container: 'docker' | 'podman' | 'kubernetes' | null
  /** A seccomp filter was put on this process before it started. */
  readonly isFiltered: boolean
  /** The profile that confines this process; null where AppArmor is off. */
  readonly appArmor: string | null
  /** By name; null if this kernel has none of that name. */
  readonly sysctls: Readonly<Record<Sysctl, number | null>>
  /** Whether something is mounted over parts of /proc; then the kernel refuses to mount a full one. */
  readonly isProcMasked: boolean
  readonly hasCgroupVersion2: boolean
  /** musl, as on Alpine, for which most programs are built separately. */
  readonly libc: 'glibc' | 'musl'
  /** One more than the highest user id that exists here: fewer than 2^32 in a container with a user namespace. */
  readonly idsMax: number
  /** Major and minor number. */
  readonly kernel: readonly [number, number]
}

const namespaceCounts = ['user', 'pid', 'mnt', 'net', 'ipc', 'uts', 'cgroup'] as const
export type Sysctl =
  | 'kernel.apparmor_restrict_unprivileged_userns'
  | 'kernel.unprivileged_userns_clone'
  | `user.max_${(typeof namespaceCounts)[number]}_namespaces`

const sysctlNames: readonly Sysctl[] = [
  'kernel.apparmor_restrict_unprivileged_userns',
  'kernel.unprivileged_userns_clone',
  ...namespaceCounts.map((name) => `user.max_${name}_namespaces` as const),
]

const administerBit = 21n

/** A few small reads; unreadable files count as missing. */
export function lookAround(): Surroundings {
  const status = read('/proc/self/status')
  const field = (name: string) => new RegExp(`^${name}:\\s*(\\S+)`, 'm').exec(status)?.[1] ?? '0'
  const [major = 0, minor = 0] = release().split('.').map(Number)
  return {
    isRoot: process.geteuid?.() === 0,
    canAdminister: ((BigInt(`0x${field('CapEff')}`) >> administerBit) & 1n) === 1n,
    container: findContainer(),
    isFiltered: field('Seccomp') === '2',
    appArmor: findAppArmor(),
    sysctls: Object.fromEntries(sysctlNames.map((name) => [name, readSysctl(name)])) as Record<
      Sysctl,
      number | null
    >,
    isProcMasked: / \/proc\/\S+ [^\n]* - (?!binfmt_misc)/.test(read('/proc/self/mountinfo')),
    hasCgroupVersion2: existsSync('/sys/fs/cgroup/cgroup.controllers'),
    libc: readdirSync('/lib').some((name) => name.startsWith('ld-musl-')) ? 'musl' : 'glibc',
    idsMax: findIdsMax(),
    kernel: [major, minor],
  }
}

/** As raw facts of a report. */
export function describeSurroundings(around: Surroundings): Record<string, string> {
  const sysctls = Object.entries(around.sysctls).filter(([, value]) => value !== null)
  return {
    host_uid: String(process.geteuid?.() ?? '?'),
    host_cap_sys_admin: String(around.canAdminister),
    host_container: around.container ?? 'none seen',
    host_seccomp_filter: String(around.isFiltered),
    host_apparmor: around.appArmor ?? 'off',
    host_libc: around.libc,
    host_ids_max: String(around.idsMax),
    host_proc_masked: String(around.isProcMasked),
    ...Object.fromEntries(sysctls.map(([name, value]) => [name, String(value)])),
  }
}

/** The initial namespaces have fixed numbers: PROC_PID_INIT_INO and PROC_CGROUP_INIT_INO of <linux/proc_ns.h>. */
const initialNamespaces = { pid: 'pid:[4026531836]', cgroup: 'cgroup:[4026531835]' }

/** The marks alone do not prove a container: a virtual machine made from an image has them too. */
function findContainer(): Surroundings['container'] {
  const isInitial = ([name, link]: [string, string]) => readlinkSync(`/proc/self/ns/${name}`) === link
  if (Object.entries(initialNamespaces).every(isInitial)) return null
  if (process.env['KUBERNETES_SERVICE_HOST'] !== undefined) return 'kubernetes'
  if (existsSync('/run/.containerenv')) return 'podman'
  return existsSync('/.dockerenv') ? 'docker' : null
}

function findIdsMax(): number {
  const lines = read('/proc/self/uid_map').trim().split('\n')
  return Math.max(
    ...lines.map((line) => {
      const [first = 0, , count = 0] = line.trim().split(/\s+/).map(Number)
      return first + count
    }),
  )
}

/** The newer place first: another security module may own the older one. */
function findAppArmor(): string | null {
  if (!existsSync('/sys/module/apparmor')) return null
  const profile = read('/proc/self/attr/apparmor/current') || read('/proc/self/attr/current')
  return profile.replace(/\0/g, '').trim() || null
}

function readSysctl(name: Sysctl): number | null {
  const text = read(`/proc/sys/${name.replace('.', '/')}`).trim()
  return /^\d+$/.test(text) ? Number(text) : null
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
