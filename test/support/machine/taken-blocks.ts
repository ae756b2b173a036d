/** Which blocks of host ids are claimed: the locks on the file of claims. See proc_locks(5). */
import { readFileSync, statSync } from 'node:fs'

import { claimFolders } from '../../../src/jail/machine/id-claims.ts'

/** The first ids of the range's blocks that any host process holds. The kernel frees them when it ends. */
export function takenBlocks({ first, count }: { readonly first: number; readonly count: number }): number[] {
  const inodes = new Set(claimFolders.map((folder) => inodeOf(`${folder}/ids`)))
  const lines = readFileSync('/proc/locks', 'utf8').split('\n')
  const rows = lines.map((line) => line.split(/\s+/))
  const starts = rows.flatMap(([, kind, , , , file = '', start]) =>
    kind === 'OFDLCK' && inodes.has(file.split(':')[2] ?? 'none') ? [Number(start)] : [],
  )
  return starts.filter((id) => id >= first && id < first + count)
}

/** Empty if the file does not exist, or this user may not see it and so cannot claim anything either. */
function inodeOf(path: string): string {
  try {
    return String(statSync(path).ino)
  } catch {
    return ''
  }
}
