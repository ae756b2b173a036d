/**
 * Groups that have one member. Distributions that give each user its own group give that group write access to the
 * user's files, which gives nobody else access.
 */
import { readFileSync } from 'node:fs'
import { userInfo } from 'node:os'

/** Root's group is none: programs run in it that are not root. */
export function isPrivateGroup(gid: number): boolean {
  const uid = process.geteuid?.()
  if (uid === undefined || uid === 0 || gid === 0) return false
  try {
    const { username } = userInfo()
    const group = readRows('/etc/group').find(([, , id]) => id === String(gid))
    if (group === undefined) return false
    const others = readRows('/etc/passwd').filter(
      ([, , id, primary]) => primary === String(gid) && id !== String(uid),
    )
    const members = (group[3] ?? '').split(',').filter((name) => name !== '' && name !== username)
    return others.length === 0 && members.length === 0
  } catch {
    // A user without an entry has no group of its own.
    return false
  }
}

function readRows(path: string): string[][] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
}
