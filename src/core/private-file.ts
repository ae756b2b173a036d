/** Whether a file of credentials is closed to other users. */
import type { Stats } from 'node:fs'

const groupMayRead = 0o040
const groupMayMore = 0o030
const othersMay = 0o007

export interface Exposure {
  /** What is wrong, after the name of the file. */
  readonly reason: string
  /** What to do about it. */
  readonly remedy: string
}

/**
 * Undefined if only root and this user can read the file and change it. A group of this process may read a file of root,
 * because the process could not read it otherwise: so Kubernetes mounts a Secret with `fsGroup` and `defaultMode: 0440`.
 */
export function exposureOf({ mode, uid, gid }: Pick<Stats, 'mode' | 'uid' | 'gid'>): Exposure | undefined {
  const isOfRoot = uid === 0 && process.geteuid?.() !== 0
  const isForOwnGroup = isOfRoot && [process.getegid?.(), ...(process.getgroups?.() ?? [])].includes(gid)
  const isOpen = (mode & (othersMay | groupMayMore)) !== 0 || ((mode & groupMayRead) !== 0 && !isForOwnGroup)
  if (!isOpen) return undefined
  const remedy = isOfRoot
    ? 'Give it a group of this process and mode 440 (for a Secret of Kubernetes: fsGroup, and defaultMode: 0440)'
    : 'Keep it yours with chmod 600'
  return { reason: 'can be read or written by others', remedy }
}
