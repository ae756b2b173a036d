/** Checks every file that a build produced, and computes one hash over all of them. */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { chmod, lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'

import { environmentFailed } from './failed.ts'

export interface Seal {
  /** SHA-256 over each file's path, its content and whether it is executable, in the order of the paths. */
  readonly contents: string
  readonly files: number
  readonly bytes: number
}

const folderMode = 0o755
const programMode = 0o755
const plainMode = 0o644
const ownersExecute = 0o100

/** Makes every file readable for everybody, and hashes it. Throws ENVIRONMENT_FAILED for anything but folders and files. */
export async function sealFolder(folder: string): Promise<Seal> {
  await makeReadable(folder)
  return await hashFolder(folder)
}

/** Whatever this process's umask is. Throws ENVIRONMENT_FAILED for anything but folders and files. */
export async function makeReadable(folder: string): Promise<void> {
  await chmod(folder, folderMode)
  for (const { whole, isFolder, isProgram } of await listAll(folder))
    await chmod(whole, isFolder ? folderMode : isProgram ? programMode : plainMode)
}

/** Leaves out the file `except` of the folder itself. Throws ENVIRONMENT_FAILED for anything but folders and files. */
export async function hashFolder(folder: string, except?: string): Promise<Seal> {
  const sum = createHash('sha256')
  let files = 0
  let bytes = 0
  for (const { path, whole, isFolder, isProgram, size } of await listAll(folder)) {
    if (isFolder || path === except) continue
    sum.update(JSON.stringify([path, isProgram, await hashFile(whole, 'sha256')]))
    files++
    bytes += size
  }
  return { contents: sum.digest('hex'), files, bytes }
}

export async function hashFile(path: string, algorithm: string): Promise<string> {
  const sum = createHash(algorithm)
  await pipeline(createReadStream(path), sum)
  return sum.digest('hex')
}

async function listAll(folder: string) {
  const paths = (await readdir(folder, { recursive: true })).toSorted()
  const all = []
  for (const path of paths) {
    const whole = join(folder, path)
    const facts = await lstat(whole)
    const isFolder = facts.isDirectory()
    if (!isFolder && (!facts.isFile() || facts.nlink !== 1))
      throw environmentFailed('It contains something other than regular files and folders.')
    all.push({ path, whole, isFolder, isProgram: (facts.mode & ownersExecute) !== 0, size: facts.size })
  }
  return all
}
