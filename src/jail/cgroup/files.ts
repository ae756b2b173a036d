/** Reading and writing a cgroup's files, the same in both versions. */
import { closeSync, mkdirSync, openSync, readFileSync, readSync, rmdirSync, writeFileSync } from 'node:fs'

import { endAtOnce } from '../../core/endings.ts'

/** The value after `key` in a flat keyed file such as memory.events; 0 where the key is missing. */
export function readKeyed(path: string, key: string): number {
  const line = readFileSync(path, 'utf8')
    .split('\n')
    .find((text) => text.startsWith(`${key} `))
  return line === undefined ? 0 : Number(line.slice(key.length + 1))
}

export function readNumber(path: string): number {
  return Number(readFileSync(path, 'utf8'))
}

/** A file with one number that is read again and again, and stays open for it. */
export class Counter {
  #file: number | null
  readonly #bytes = Buffer.alloc(32)

  constructor(path: string) {
    this.#file = openSync(path, 'r')
  }

  read(): number {
    if (this.#file === null) throw new Error('The cgroup is gone.')
    const count = readSync(this.#file, this.#bytes, 0, this.#bytes.length, 0)
    return Number(this.#bytes.toString('latin1', 0, count))
  }

  /** Any number of times: a descriptor that was closed twice would be somebody else's. */
  close(): void {
    if (this.#file !== null) closeSync(this.#file)
    this.#file = null
  }
}

export function writeValue(path: string, value: string | number): void {
  // Never to be created: asked to, the kernel answers EACCES where it means that there is no such file.
  writeFileSync(path, String(value), { flag: 'r+' })
}

/** Writes where the file exists: some are missing on kernels built without swap accounting. */
export function writeWherePresent(path: string, value: string | number): void {
  try {
    writeValue(path, value)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}

/** How groups come and go; the kernel fills a new one with its files. */
export interface GroupFolders {
  make(path: string): void
  /** Does not mind a group that is gone already. */
  remove(path: string): void
}

export const kernelGroups: GroupFolders = { make: (path) => mkdirSync(path), remove: removeGroup }

/** Every one of them, also when another cannot be removed. */
export function removeGroups(paths: readonly string[]): void {
  endAtOnce(
    'A cgroup could not be removed',
    paths.map((path) => () => removeGroup(path)),
  )
}

export function removeGroup(path: string): void {
  try {
    rmdirSync(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}
