/**
 * Copies a folder of the host into a folder of the sandbox. Guests may have written to it before, so nothing in it is opened
 * through a link, and each file is inspected again after it was opened.
 */
import { constants } from 'node:fs'
import { lstat, open, opendir, readlink } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'

import { LazaretError } from '../../core/errors/errors.ts'
import type { FileTasks } from './file-tasks.ts'
import { hostError, parseFolderOptions, parseHostPath } from './folder-options.ts'
import type { Copied, CopiedFolder, FolderOptions, ParsedFolderOptions } from './folder-options.ts'
import { below } from './host-paths.ts'
import type { TarEntry } from './tar/tar-entries.ts'
import { parseLinkTarget, parseTarPath } from './tar/tar-names.ts'
import { unpackInto } from './tar/upload-tar.ts'

const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants

export async function uploadFolder(
  tasks: FileTasks,
  from: string,
  options: FolderOptions,
): Promise<CopiedFolder> {
  const path = parseHostPath(from, 'from')
  const parsed = parseFolderOptions(options)
  try {
    await using folder = await open(path, O_RDONLY | O_DIRECTORY)
    const walk = new Walk(parsed)
    await unpackInto(tasks, parsed.path, () => walk.entriesOf(folder, ''))
  } catch (error) {
    throw hostError('from', error)
  }
  return parsed.copied.result
}

class Walk {
  readonly #options: ParsedFolderOptions & { readonly copied: Copied }

  constructor(options: ParsedFolderOptions & { readonly copied: Copied }) {
    this.#options = options
  }

  /** `path` is relative to the outermost folder, with a slash at its end, or empty. */
  async *entriesOf(folder: FileHandle, path: string): AsyncGenerator<TarEntry> {
    const { copied, entriesMax, isIgnored } = this.#options
    for await (const { name } of await opendir(below(folder, ''))) {
      const own = `${path}${name}`
      if (isIgnored(own)) continue
      const wrong = parseTarPath(own)
      if ('refused' in wrong) copied.skip({ path: own, reason: wrong.refused })
      else if (copied.entries >= entriesMax)
        throw new LazaretError('INPUT_TOO_LARGE', { detail: `from has more than ${entriesMax} entries.` })
      else yield* this.#entry(below(folder, name), own)
    }
  }

  async *#entry(host: string, path: string): AsyncGenerator<TarEntry> {
    const { copied } = this.#options
    const facts = await lstat(host)
    const common = { path, target: '', bytes: 0, mode: facts.mode, modifiedMs: Math.max(0, facts.mtimeMs) }
    if (facts.isSymbolicLink()) {
      const target = parseLinkTarget(await readlink(host), path)
      if ('refused' in target) return copied.skip({ path, reason: target.refused })
      yield { ...common, type: 'link', target: target.is, body: nothing() }
      return copied.add(path, 0)
    }
    if (facts.isDirectory()) {
      await using folder = await open(host, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
      yield { ...common, type: 'folder', body: nothing() }
      copied.add(path, 0)
      return yield* this.entriesOf(folder, `${path}/`)
    }
    if (!facts.isFile()) return copied.skip({ path, reason: 'it is neither a file nor a folder' })
    // Another file may have replaced it. Opening must not block, and only a regular file counts.
    await using file = await open(host, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    const { size } = await this.#sizeOf(file, path)
    yield { ...common, bytes: size, type: 'file', body: readExactly(file, size) }
    copied.add(path, size)
  }

  async #sizeOf(file: FileHandle, path: string): Promise<{ readonly size: number }> {
    const facts = await file.stat()
    if (!facts.isFile())
      throw new LazaretError('INVALID_REQUEST', { detail: `from: ${path} was replaced while it was read.` })
    const { bytesMax, copied } = this.#options
    if (copied.bytes + facts.size > bytesMax)
      throw new LazaretError('INPUT_TOO_LARGE', {
        detail: `The files in from are longer than ${bytesMax} bytes.`,
      })
    return facts
  }
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

const pieceBytes = 64 * 1024

/** Exactly the announced number of bytes: a growing file is cut, and a truncated one is padded with zeros. */
async function* readExactly(file: FileHandle, size: number): AsyncGenerator<Uint8Array> {
  for (let left = size; left > 0;) {
    const piece = Buffer.alloc(Math.min(left, pieceBytes))
    const { bytesRead } = await file.read(piece, 0, piece.length)
    const given = bytesRead === 0 ? piece : piece.subarray(0, bytesRead)
    left -= given.length
    yield given
  }
}
