/**
 * A folder for temporary files of this process that only this user can reach: nobody else may search it, whatever the umask
 * was. Its name says which process it belongs to, so the next Lazaret removes it if that process was killed.
 */
import { lstatSync, readdirSync, rmSync } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { isLeftBehind, nameOfThisHost } from './host-identity.ts'

/** Tells it from a folder of runs, which has files of guests in it, and which only a launcher removes. */
const ending = '.private'

export class PrivateFolder implements AsyncDisposable {
  readonly path: string

  private constructor(path: string) {
    this.path = path
  }

  static async make(): Promise<PrivateFolder> {
    const path = join(tmpdir(), `${nameOfThisHost()}${ending}`)
    await mkdir(path, { mode: 0o700 })
    return new PrivateFolder(path)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.path, { recursive: true, force: true })
  }
}

/** Removes what dead hosts of this user left behind, and returns for how many hosts. Never throws: the next start tries again. */
export function sweepPrivateFolders(): number {
  const swept = new Set<string>()
  try {
    for (const name of readdirSync(tmpdir())) {
      const owner = name.endsWith(ending) ? name.slice(0, -ending.length) : ''
      if (!isLeftBehind(owner)) continue
      const path = join(tmpdir(), name)
      const facts = lstatSync(path)
      if (!facts.isDirectory() || facts.uid !== process.geteuid?.()) continue
      rmSync(path, { recursive: true, force: true })
      swept.add(owner.replace(/-\d+$/, ''))
    }
  } catch {
    // Another host removes it at the same time, or this user may not list the folder of temporary files.
  }
  return swept.size
}
