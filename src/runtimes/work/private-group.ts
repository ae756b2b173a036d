/**
 * Detects groups with only one member. Distributions that create a group for each user often let it write to the user's
 * files. This gives access to nobody else.
 */
import { readFileSync } from 'node:fs'
import { userInfo } from 'node:os'

/** Whether the group's only member is this user. Never true for root's group, in which programs of other users run. */
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
