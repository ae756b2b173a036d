/**
 * `--output-dir`: files of a guest, written to a folder of the host. Their paths are guest text, and the folder may
 * contain other files. So every folder of the path is opened separately, below the one before and never through a link,
 * and a file appears whole under its name or not at all. A regular file of that name is replaced. A file is not written if
 * anything else has its name, or if a Lazaret command would use it.
 */
import { constants } from 'node:fs'
import { lstat, open, readlink, rename, rm } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { join } from 'node:path'

import { below, makeFolders, openFolder, temporaryName } from '../../../sandbox/files/host-paths.ts'
import { isConfigName, isProtected, leadsToPackages } from '../configuration/protected-paths.ts'
import { describeSystemError } from './system-error.ts'
import { UsageError } from '../options/usage-error.ts'

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_RDONLY, O_WRONLY } = constants

const inPackages = 'programs are loaded from folders called node_modules'

export class OutputFolder implements AsyncDisposable {
  /** As the user wrote it. */
  readonly path: string
  readonly #handle: FileHandle
  readonly #protectedPaths: readonly string[]

  private constructor(path: string, handle: FileHandle, protectedPaths: readonly string[]) {
    this.path = path
    this.#handle = handle
    this.#protectedPaths = protectedPaths
  }

  /**
   * Makes the folder if need be. A link that the user names is followed: it is the user's own. `protectedPaths` are the real
   * paths of files that are not written, see `protected-paths.ts`.
   */
  static async open(path: string, protectedPaths: readonly string[] = []): Promise<OutputFolder> {
    try {
      await makeFolders(path)
      return new OutputFolder(path, await open(path, O_RDONLY | O_DIRECTORY), protectedPaths)
    } catch (error) {
      throw new UsageError(
        `--output-dir ${path}: ${describeSystemError(error) ?? String(error)}.`,
        'Name a folder that exists or can be created.',
      )
    }
  }

  /** Why the file could not be written, or undefined. */
  write(path: string, content: Uint8Array, isExecutable = false): Promise<string | undefined> {
    const mode = isExecutable ? 0o755 : 0o644
    return this.#place(path, (folder, name) =>
      replaceFile(below(folder, name), below(folder, temporaryName()), { content, mode }),
    )
  }

  /** Why the folder could not be made, or undefined. One that is there stays. */
  makeFolder(path: string): Promise<string | undefined> {
    return this.#place(path, async (folder, name) => {
      await (await openFolder(folder, name)).close()
      return undefined
    })
  }

  async #place(
    path: string,
    put: (folder: FileHandle, name: string) => Promise<string | undefined>,
  ): Promise<string | undefined> {
    const parts = path.split('/')
    if (parts.some((part) => /^\.{0,2}$/.test(part) || part.includes('\0')))
      return 'not a path below the folder'
    // Refused as a folder too, because it would block every command below it.
    if (parts.some(isConfigName)) return 'a file of that name is a configuration of lazaret'
    // Checked before any folder is created.
    if (leadsToPackages(path)) return inPackages
    const opened: FileHandle[] = []
    try {
      let folder = this.#handle
      for (const name of parts.slice(0, -1)) {
        folder = await openFolder(folder, name)
        opened.push(folder)
      }
      const name = parts.at(-1) ?? ''
      const real = join(await readlink(below(folder, '')), name)
      if (leadsToPackages(real)) return inPackages
      if (isProtected(real, this.#protectedPaths)) return 'lazaret itself uses the files there'
      return await put(folder, name)
    } catch (error) {
      return describeSystemError(error) ?? String(error)
    } finally {
      await Promise.all(opened.map((folder) => folder.close()))
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle.close()
  }
}

/** Renaming replaces a name, never what a link of that name leads to. */
async function replaceFile(
  path: string,
  temporary: string,
  { content, mode }: { readonly content: Uint8Array; readonly mode: number },
): Promise<string | undefined> {
  const existing = await lstat(path).catch(() => undefined)
  if (existing !== undefined && !existing.isFile()) return 'something that is not a regular file is there'
  try {
    const file = await open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode)
    try {
      await file.writeFile(content)
    } finally {
      await file.close()
    }
    await rename(temporary, path)
    return undefined
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
}
