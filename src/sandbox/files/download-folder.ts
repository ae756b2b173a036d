/**
 * Copies a folder of the sandbox into a folder of the host. Names and contents come from a guest, and other files may be there
 * already: folders are opened one below the other and never through a link, the guest's links are left out, and a file
 * appears whole under its name or not at all.
 */
import { constants } from 'node:fs'
import { lstat, open, rename, rm } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'

import type { TarHeader } from 'modern-tar'

import { packInto } from './tar/download-tar.ts'
import type { ArchiveSink } from './tar/download-tar.ts'
import type { FileTasks } from './file-tasks.ts'
import { hostError, parseFolderOptions, parseHostPath } from './folder-options.ts'
import type { Copied, CopiedFolder, FolderOptions } from './folder-options.ts'
import { below, makeFolders, openFolder, temporaryName } from './host-paths.ts'

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_RDONLY, O_WRONLY } = constants

export async function downloadFolder(
  tasks: FileTasks,
  to: string,
  options: FolderOptions,
): Promise<CopiedFolder> {
  const path = parseHostPath(to, 'to')
  const { copied, ...parsed } = parseFolderOptions(options)
  try {
    await using target = new Target(path, copied)
    await packInto(tasks, { ...parsed, onSkipped: copied.skip, keepsLinks: false }, target)
    // Created even if there is nothing to copy.
    await target.open()
  } catch (error) {
    throw hostError('to', error)
  }
  return copied.result
}

class Target implements ArchiveSink, AsyncDisposable {
  readonly #path: string
  readonly #copied: Copied
  readonly #parents = new Parents()
  #root: Promise<FileHandle> | undefined

  constructor(path: string, copied: Copied) {
    this.#path = path
    this.#copied = copied
  }

  /**
   * Opened only when the sandbox has sent something, because the policy decides first. A link that the caller names is
   * followed.
   */
  open(): Promise<FileHandle> {
    this.#root ??= makeFolders(this.#path).then(() => open(this.#path, O_RDONLY | O_DIRECTORY))
    return this.#root
  }

  add({ name, type, mode = 0, size }: TarHeader): WritableStream<Uint8Array> {
    const path = name.replace(/\/$/, '')
    const entry = type === 'directory' ? new NewFolder(this.#parents) : new NewFile(this.#parents, mode)
    let isInTheWay = false
    return new WritableStream({
      start: async () => {
        isInTheWay = !(await entry.begin(await this.open(), path.split('/')))
        if (isInTheWay) this.#copied.skip({ path, reason: 'something else is there on the host' })
      },
      write: async (bytes) => {
        if (!isInTheWay) await entry.write(bytes)
      },
      close: async () => {
        if (isInTheWay) return
        await entry.end()
        this.#copied.add(path, size)
      },
      abort: () => entry.giveUp(),
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#parents.close()
    const root = await this.#root?.catch(() => undefined)
    await root?.close()
  }
}

/** Keeps the last folder open, because the next file is usually in it, too. */
class Parents {
  #path: string | undefined
  #folder: FileHandle | undefined

  /** Null if a link, or something else that is not a folder, is in the way. The result is open until the next call. */
  async open(root: FileHandle, names: readonly string[]): Promise<FileHandle | null> {
    const path = names.join('/')
    if (this.#folder !== undefined && this.#path === path) return this.#folder
    await this.close()
    const folder = await openParents(root, names)
    if (folder !== null) [this.#folder, this.#path] = [folder, path]
    return folder
  }

  async close(): Promise<void> {
    const folder = this.#folder
    this.#folder = undefined
    await folder?.close()
  }
}

/** Null if a link, or something else that is not a folder, is in the way. The caller closes the result. */
async function openParents(root: FileHandle, names: readonly string[]): Promise<FileHandle | null> {
  let folder = await open(below(root, ''), O_RDONLY | O_DIRECTORY)
  for (const name of names) {
    try {
      const next = await openFolder(folder, name)
      await folder.close()
      folder = next
    } catch (error) {
      await folder.close()
      if (isObstacle(error)) return null
      throw error
    }
  }
  return folder
}

/** The errors for a link and for a file when a folder is opened without following links. */
function isObstacle(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException
  return code === 'ELOOP' || code === 'ENOTDIR'
}

class NewFolder {
  readonly #parents: Parents

  constructor(parents: Parents) {
    this.#parents = parents
  }

  async begin(root: FileHandle, names: readonly string[]): Promise<boolean> {
    return (await this.#parents.open(root, names)) !== null
  }

  async write(): Promise<void> {}
  async end(): Promise<void> {}
  async giveUp(): Promise<void> {}
}

const plainMode = 0o644
const programMode = 0o755
const ownersExecute = 0o100

class NewFile {
  readonly #parents: Parents
  readonly #mode: number
  #folder: FileHandle | undefined
  #file: FileHandle | undefined
  #name = ''
  readonly #temporary = temporaryName()

  /** Only the execute bit of a guest's mode is kept. */
  constructor(parents: Parents, mode: number) {
    this.#parents = parents
    this.#mode = (mode & ownersExecute) === 0 ? plainMode : programMode
  }

  /** False if something that is not a regular file has its name. */
  async begin(root: FileHandle, names: readonly string[]): Promise<boolean> {
    const folder = await this.#parents.open(root, names.slice(0, -1))
    if (folder === null) return false
    this.#folder = folder
    this.#name = below(folder, names.at(-1) ?? '')
    const existing = await lstat(this.#name).catch(() => undefined)
    if (existing !== undefined && !existing.isFile()) return false
    const flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW
    this.#file = await open(below(folder, this.#temporary), flags, this.#mode)
    return true
  }

  async write(bytes: Uint8Array): Promise<void> {
    try {
      await this.#file?.writeFile(bytes)
    } catch (error) {
      await this.giveUp()
      throw error
    }
  }

  /** Renaming replaces a name, never what a link of that name leads to. */
  async end(): Promise<void> {
    await this.#file?.close()
    this.#file = undefined
    try {
      await rename(this.#temporaryPath, this.#name)
    } catch (error) {
      await this.giveUp()
      throw error
    }
  }

  /** Removes the unfinished file. */
  async giveUp(): Promise<void> {
    await this.#file?.close().catch(() => undefined)
    if (this.#folder === undefined) return
    await rm(this.#temporaryPath, { force: true })
  }

  get #temporaryPath(): string {
    return this.#folder === undefined ? '' : below(this.#folder, this.#temporary)
  }
}
