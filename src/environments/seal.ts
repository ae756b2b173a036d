/** Checks every file that a build produced, and computes one hash over all of them. */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { chmod, lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'

import { LazaretError } from '../core/errors/errors.ts'

export interface Seal {
  readonly hash: string
  readonly files: number
  readonly bytes: number
}

const folderMode = 0o755
const programMode = 0o755
const plainMode = 0o644
const ownersExecute = 0o100

/**
 * Makes every file readable for everybody, whatever this process's umask is. The hash covers each file's path, its
 * content and whether it is executable, in the order of the paths. Throws ENVIRONMENT_FAILED for anything but folders
 * and files.
 */
export async function sealFolder(folder: string): Promise<Seal> {
  const paths = (await readdir(folder, { recursive: true })).toSorted()
  const sum = createHash('sha256')
  let files = 0
  let bytes = 0
  for (const path of paths) {
    const facts = await lstat(join(folder, path))
    const whole = join(folder, path)
    if (facts.isDirectory()) {
      await chmod(whole, folderMode)
      continue
    }
    if (!facts.isFile() || facts.nlink !== 1)
      throw new LazaretError('ENVIRONMENT_FAILED', {
        detail: 'It contains something other than regular files and folders.',
      })
    const isProgram = (facts.mode & ownersExecute) !== 0
    await chmod(whole, isProgram ? programMode : plainMode)
    const own = createHash('sha256')
    await pipeline(createReadStream(whole), own)
    sum.update(JSON.stringify([path, isProgram, own.digest('hex')]))
    files++
    bytes += facts.size
  }
  return { hash: sum.digest('hex'), files, bytes }
}
