/**
 * Checks whether anybody except root and the user of this process could have chosen the target of a path.
 *
 * The check covers every folder on the way, and every link with all folders through which it leads. The owner of each must
 * be root or this user, and nobody else may write to it. A folder with the sticky bit, such as /tmp, may be writable: only
 * the owner of an entry can replace it, and the entry's owner is checked next. So after a successful check only root and
 * this user can change the target of the path, and it can be opened without a race.
 */
import type { Stats } from 'node:fs'
import { lstatSync, readlinkSync } from 'node:fs'
import { dirname, isAbsolute, join } from 'node:path'

import { mountOf } from '../../jail/machine/mount-of.ts'
import { isPrivateGroup } from '../work/private-group.ts'

/** Why another user could have chosen the target of a path. */
export interface Intruder {
  /** `owner`: another user owns it. `mode`: a trusted user owns it, but others can write to it. */
  readonly by: 'owner' | 'mode'
  /** The file, folder or link that others can change. */
  readonly path: string
  /** For messages. It includes the path. */
  readonly reason: string
}

/** The same as the kernel's limit. */
const linksMax = 40
const groupMayWrite = 0o020
const othersMayWrite = 0o002
const sticky = 0o1000

/** The users who may change the entry, in addition to root and this user. */
export interface Trust {
  readonly owners: readonly number[]
  /** The groups that may write to the entry. */
  readonly groups: readonly number[]
  /** Whether everybody may write to the entry. */
  readonly everybody: boolean
  /** Whether folders of mounts that are read-only may have any mode, as the volumes of Kubernetes do. */
  readonly readOnlyMounts?: boolean
  /** Whether a folder need not be checked, because users who can change it can change more anyway. */
  readonly isExempt: (folder: string) => boolean
}

const nobodyElse: Trust = { owners: [], groups: [], everybody: false, isExempt: () => false }

/** Undefined if only root and this user can change the path. Throws the system's error if nothing is there. */
export function findIntruder(path: string, trust: Partial<Trust> = {}): Intruder | undefined {
  const end = followPath(path, { ...nobodyElse, ...trust })
  return typeof end === 'string' ? undefined : end
}

/** The real path, or the untrusted user who could make the path lead elsewhere. */
export function followPath(path: string, trust: Trust): string | Intruder {
  if (!isAbsolute(path)) throw new TypeError(`${path} is not absolute`)
  const waiting = partsOf(path)
  let links = 0
  let current = '/'
  for (let next: string | undefined = '/'; next !== undefined; next = waiting.shift()) {
    const there = next === '..' ? dirname(current) : join(current, next)
    const stats = lstatSync(there)
    const intruder = trust.isExempt(there) ? undefined : examine(there, stats, trust)
    if (intruder !== undefined) return intruder
    if (!stats.isSymbolicLink()) {
      current = there
      continue
    }
    if (++links > linksMax) return { by: 'mode', path, reason: `${path} leads through too many links` }
    const target = readlinkSync(there)
    if (isAbsolute(target)) current = '/'
    waiting.unshift(...partsOf(target))
  }
  return current
}

function partsOf(path: string): string[] {
  return path.split('/').filter((part) => part !== '' && part !== '.')
}

function examine(path: string, stats: Stats, trust: Trust): Intruder | undefined {
  if (stats.uid !== 0 && stats.uid !== process.geteuid?.() && !trust.owners.includes(stats.uid))
    return { by: 'owner', path, reason: `${path} belongs to another user (uid ${stats.uid})` }
  // The mode of a link has no effect. In a sticky folder, only the owner of an entry can replace it.
  if (stats.isSymbolicLink() || (stats.isDirectory() && (stats.mode & sticky) !== 0)) return undefined
  const isWritable = (stats.mode & (groupMayWrite | othersMayWrite)) !== 0
  if (isWritable && trust.readOnlyMounts === true && mountOf(path)?.options.includes('ro') === true)
    return undefined
  if ((stats.mode & othersMayWrite) !== 0 && !trust.everybody)
    return { by: 'mode', path, reason: `${path} can be written by everybody` }
  const isTrusted = trust.groups.includes(stats.gid) || isPrivateGroup(stats.gid)
  if ((stats.mode & groupMayWrite) !== 0 && !isTrusted)
    return { by: 'mode', path, reason: `${path} can be written by its group (gid ${stats.gid})` }
  return undefined
}
