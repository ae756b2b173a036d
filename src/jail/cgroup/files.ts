/** Reading and writing a cgroup's files, the same in both versions. */
import {
  chmodSync,
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  rmdirSync,
  statSync,
  writeFileSync,
} from 'node:fs'

import { endAtOnce } from '../../core/endings.ts'

/** The value after `key` in a flat keyed file such as memory.events; 0 if the key is missing. */
export function readKeyed(path: string, key: string): number {
  return valueOf(readFileSync(path, 'utf8'), key)
}

function valueOf(text: string, key: string): number {
  const line = text.split('\n').find((each) => each.startsWith(`${key} `))
  return line === undefined ? 0 : Number(line.slice(key.length + 1))
}

export function readNumber(path: string): number {
  return Number(readFileSync(path, 'utf8'))
}

/** All counters are read into it, because each is decoded at once. */
const counts = Buffer.alloc(256)

/** A file with counts that is read repeatedly. It stays open after the first read, or after `open()`. */
export class Counter {
  readonly #path: string
  #file: number | undefined
  #isClosed = false

  constructor(path: string) {
    this.#path = path
  }

  /** Reads a file that contains one number. */
  read(): number {
    return Number(this.#text())
  }

  /** The value after `key` in a flat keyed file; 0 where the key is missing. */
  readKeyed(key: string): number {
    return valueOf(this.#text(), key)
  }

  /** Opens the file ahead, for reads at a time when the host may have no descriptor left. */
  open(): number {
    if (this.#isClosed) throw new Error('The cgroup is gone.')
    return (this.#file ??= openSync(this.#path, 'r'))
  }

  #text(): string {
    const count = readSync(this.open(), counts, 0, counts.length, 0)
    return counts.toString('latin1', 0, count)
  }

  /** May be called any number of times: closing a descriptor twice could close somebody else's. */
  close(): void {
    if (this.#file !== undefined) closeSync(this.#file)
    this.#file = undefined
    this.#isClosed = true
  }
}

export function writeValue(path: string, value: string | number): void {
  // Never creates the file: with O_CREAT the kernel answers EACCES when it means that there is no such file.
  writeFileSync(path, String(value), { flag: 'r+' })
}

/** For files that may be missing, or that this user may not read. */
export function readOr(path: string, otherwise: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return otherwise
  }
}

/** Writes if the file exists: some are missing on kernels built without swap accounting. */
export function writeWherePresent(path: string, value: string | number): void {
  try {
    writeValue(path, value)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}

/** Creates and removes groups; the kernel fills a new one with its files. */
export interface GroupFolders {
  make(path: string): void
  /** Accepts a group that is already gone. */
  remove(path: string): void
}

export const kernelGroups: GroupFolders = { make: makeGroup, remove: removeGroup }

/** Whether the umask closes new folders to others. Programs set it when they start, so the first group tells. */
let isMasked: boolean | undefined

/** Lets others enter the group, because launchers with their own ids open files in it. */
export function makeGroup(path: string): void {
  mkdirSync(path)
  isMasked ??= (statSync(path).mode & 0o055) !== 0o055
  if (isMasked) chmodSync(path, 0o755)
}

/** Removes each of them, even if another cannot be removed. */
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
