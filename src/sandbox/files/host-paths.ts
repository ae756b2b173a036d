/**
 * Folders of the host that get a guest's files, or that a guest may have written to: each is opened separately, below
 * the one before it and never through a link.
 */
import { constants } from 'node:fs'
import { mkdir, open, stat } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import { systemClock } from '../../core/clock.ts'

const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = constants

/** A name inside an open folder, even if the folder's path now leads elsewhere: Node has no `openat`. */
export function below(folder: FileHandle, name: string): string {
  return join('/proc/self/fd', String(folder.fd), name)
}

/**
 * Creates one folder after another: Node's recursive `mkdir` never ends in folders that accept no new ones, such as
 * `/proc`.
 */
export async function makeFolders(path: string): Promise<void> {
  const missing: string[] = []
  for (let current = path; !(await isThere(current)); current = dirname(current)) missing.unshift(current)
  for (const folder of missing) await makeFolder(folder)
}

async function isThere(path: string): Promise<boolean> {
  try {
    await stat(path)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' && dirname(path) !== path) return false
    throw error
  }
}

async function makeFolder(path: string): Promise<void> {
  await mkdir(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
}

export async function openFolder(parent: FileHandle, name: string): Promise<FileHandle> {
  const path = below(parent, name)
  await makeFolder(path)
  return open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
}

export function temporaryName(): string {
  return `.lazaret-${systemClock.id()}`
}
