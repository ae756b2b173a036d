/** What to do about a step that the machine refuses. */
import type { PlanRecord } from './plan-records.ts'

const userNamespaces =
  'User namespaces are refused. In Docker, use `--security-opt seccomp=` with a profile that allows them; on Ubuntu ' +
  '23.10 and later allow the launcher with an AppArmor profile (`userns,`); elsewhere see `sysctl user.max_user_namespaces`.'
const mounts =
  'Mounts are refused inside a user namespace. In Docker add `--security-opt apparmor=unconfined --security-opt ' +
  'systempaths=unconfined` and a seccomp profile that allows mounts.'
const landlock = 'Landlock is missing: Linux 5.13 or later, with `landlock` in the `lsm=` boot parameter.'

/** The errnos with which kernels and their policies say no. */
const refusals = ['EPERM', 'EACCES', 'ENOSPC', 'EINVAL', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP']

/**
 * The fix for a step that failed with an errno's name, or undefined where it is not the machine's policy. `record` is
 * null for the steps of starting a guest, which the plan does not list.
 */
export function adviseOn(record: PlanRecord['do'] | null, step: string, errno: string): string | undefined {
  if (!refusals.includes(errno)) return undefined
  if (step === 'apply Landlock') return landlock
  if (record === 'clone' || record === 'id-maps' || record === 'become') return userNamespaces
  if (
    record === 'mount' ||
    record === 'private' ||
    record === 'root' ||
    record === 'bind' ||
    record === 'pivot'
  )
    return mounts
  return undefined
}
