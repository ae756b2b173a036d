/**
 * The files of a sandbox. Every operation runs inside its cell, as a process confined like its guests
 * (native/cell/files/service.c): links lead to the same targets as for a guest, and no operation blocks on a guest. sandbox.ts
 * documents each operation.
 */
import { LazaretError } from '../../core/errors/errors.ts'
import { decodeInBlocks } from '../../result/text-blocks.ts'
import { loopTurns } from '../../runtimes/channel/loop-turns.ts'
import { checkKeys } from '../checks.ts'
import { downloadTar } from './tar/download-tar.ts'
import type { DownloadTarOptions } from './tar/download-tar.ts'
import { describeRecord } from './file-info.ts'
import type { FileInfo } from './file-info.ts'
import { readListing } from './file-listing.ts'
import type { FileListing } from './file-listing.ts'
import { decodeRecord } from './file-records.ts'
import { FileTasks } from './file-tasks.ts'
import type { FileGround } from './file-tasks.ts'
import { parseBound, parseContent, parseEncoding, parseFlag } from './file-options.ts'
import type { FileEncoding } from './file-options.ts'
import { parseGuestPath } from './guest-path.ts'
import type { TarSource } from './tar/tar-source.ts'
import { downloadFolder } from './download-folder.ts'
import type { CopiedFolder, FolderOptions } from './folder-options.ts'
import { uploadFolder } from './upload-folder.ts'
import { uploadTar } from './tar/upload-tar.ts'
import type { UploadTarOptions, UploadedTar } from './tar/upload-tar.ts'

export interface WriteFileOptions {
  /** Whether missing parent folders are created. Default false. */
  readonly createParents?: boolean
}

export interface ReadFileOptions {
  /** `bytes` is a Uint8Array; in `utf8`, the default, invalid bytes become U+FFFD. */
  readonly encoding?: FileEncoding
  /** A longer file is refused with FILE_TOO_LARGE. 64 MiB by default. */
  readonly bytesMax?: number
}

export interface ListFilesOptions {
  /** Whether its subfolders are listed, too. Neither links nor other file systems are entered. */
  readonly recursive?: boolean
  /** 10,000 by default, 100,000 at most. */
  readonly entriesMax?: number
}

const readBytesMax = 64 * 1024 * 1024
const readBytesCeiling = 1024 * 1024 * 1024
const entriesMax = 10_000
const entriesCeiling = 100_000
/** A path of 64 names is longer; longer trees are not listed at once. */
const listingBytesMax = 64 * 1024 * 1024
const recordBytesMax = 64 * 1024
/** The answer, and about twice its bytes in objects. */
const listingForms = 3

export class SandboxFiles {
  readonly #tasks: FileTasks
  readonly #reserve: FileGround['reserve']

  constructor(ground: FileGround) {
    this.#tasks = new FileTasks(ground)
    this.#reserve = ground.reserve
  }

  async writeFile(path: string, content: string | Uint8Array, options: WriteFileOptions = {}): Promise<void> {
    const { createParents } = checkKeys(options, ['createParents'])
    const args = [parseGuestPath(path), parseFlag(createParents, 'createParents')]
    await this.#tasks.run({ task: 'write', args, input: parseContent(content) })
  }

  async readFile(path: string, options: ReadFileOptions = {}): Promise<string | Uint8Array> {
    const parsed = checkKeys(options, ['encoding', 'bytesMax'])
    const encoding = parseEncoding(parsed.encoding)
    const bytesMax = parseBound(parsed.bytesMax, 'bytesMax', { usual: readBytesMax, most: readBytesCeiling })
    const args = [parseGuestPath(path), String(bytesMax)]
    const content = await this.#tasks.run({ task: 'read', args }, bytesMax)
    if (encoding === 'bytes') return new Uint8Array(content)
    return await loopTurns.perform(decodeInBlocks(content, encoding))
  }

  readFileStream(path: string): AsyncIterable<Uint8Array> {
    return this.#tasks.stream({ task: 'read', args: [parseGuestPath(path), String(Number.MAX_SAFE_INTEGER)] })
  }

  async mkdir(path: string, options: { readonly recursive?: boolean } = {}): Promise<void> {
    const { recursive } = checkKeys(options, ['recursive'])
    await this.#tasks.run({ task: 'mkdir', args: [parseGuestPath(path), parseFlag(recursive, 'recursive')] })
  }

  async listFiles(path = '/workspace', options: ListFilesOptions = {}): Promise<FileListing> {
    const parsed = checkKeys(options, ['recursive', 'entriesMax'])
    const most = parseBound(parsed.entriesMax, 'entriesMax', { usual: entriesMax, most: entriesCeiling })
    const args = [parseGuestPath(path), parseFlag(parsed.recursive, 'recursive'), String(most)]
    using held = this.#reserve()
    const answer = await this.#tasks.run({ task: 'list', args }, listingBytesMax, held)
    held.resize(answer.length * listingForms)
    return await loopTurns.perform(readListing(answer))
  }

  async stat(path: string, options: { readonly followLinks?: boolean } = {}): Promise<FileInfo> {
    const { followLinks = true } = checkKeys(options, ['followLinks'])
    const args = [parseGuestPath(path), parseFlag(followLinks, 'followLinks')]
    const answer = await this.#tasks.run({ task: 'stat', args }, recordBytesMax)
    const decoded = decodeRecord(answer, 0)
    const info = decoded && describeRecord(decoded.record, path)
    if (info === undefined) throw new LazaretError('FILES_LOST', { detail: 'There was no record.' })
    return info
  }

  async exists(path: string): Promise<boolean> {
    try {
      await this.stat(path)
      return true
    } catch (error) {
      const isMissing = error instanceof LazaretError && missing.includes(error.code)
      if (isMissing) return false
      throw error
    }
  }

  async deleteFile(path: string, options: { readonly recursive?: boolean } = {}): Promise<void> {
    const { recursive } = checkKeys(options, ['recursive'])
    // `link/` would name the link's target.
    const plain = parseGuestPath(path).replace(/(?<=.)\/+$/, '')
    await this.#tasks.run({ task: 'delete', args: [plain, parseFlag(recursive, 'recursive')] })
  }

  async renameFile(from: string, to: string): Promise<void> {
    await this.#tasks.run({ task: 'rename', args: [parseGuestPath(from, 'from'), parseGuestPath(to, 'to')] })
  }

  async moveFile(from: string, to: string): Promise<void> {
    await this.#tasks.run({ task: 'move', args: [parseGuestPath(from, 'from'), parseGuestPath(to, 'to')] })
  }

  uploadTar(source: TarSource, options: UploadTarOptions = {}): Promise<UploadedTar> {
    return uploadTar(this.#tasks, source, options)
  }

  downloadTar(options: DownloadTarOptions = {}): AsyncIterable<Uint8Array> {
    return downloadTar(this.#tasks, options)
  }

  uploadFolder(from: string, options: FolderOptions = {}): Promise<CopiedFolder> {
    return uploadFolder(this.#tasks, from, options)
  }

  downloadFolder(to: string, options: FolderOptions = {}): Promise<CopiedFolder> {
    return downloadFolder(this.#tasks, to, options)
  }
}

const missing: readonly string[] = ['FILE_NOT_FOUND', 'NOT_A_FOLDER']
