/** A folder of the sandbox as a tar stream. Its reader trusts it, so no entry leads out of it. */
import type { TarHeader } from 'modern-tar'

import { LazaretError } from '../../../core/errors/errors.ts'
import { takeRests } from '../../../runtimes/channel/loop-turns.ts'
import { checkKeys } from '../../checks.ts'
import { describeRecord } from '../file-info.ts'
import type { FileInfo } from '../file-info.ts'
import { parseBound } from '../file-options.ts'
import { RecordStream, recordKind } from '../file-records.ts'
import type { FileRecord } from '../file-records.ts'
import type { FileTasks, OpenTask } from '../file-tasks.ts'
import { parseGuestPath } from '../guest-path.ts'
import { TarPaths, parseLinkTarget, parseTarPath } from './tar-names.ts'

export interface DownloadTarOptions {
  /** The folder. /workspace by default; names in the archive are relative to it. */
  readonly path?: string
  /** The most entries; more end in FILE_TOO_LARGE. 100,000 by default, and at most. */
  readonly entriesMax?: number
  /** The bytes of all contents together; more ends in FILE_TOO_LARGE. 1 GiB by default. */
  readonly bytesMax?: number
  /**
   * Called for each thing that is left out: pipes, sockets, devices, links that lead out, names that are not UTF-8.
   */
  readonly onSkipped?: (skipped: SkippedFile) => void
}

/** Guest text. */
export interface SkippedFile {
  readonly path: string
  readonly reason: string
}

export const entriesMax = 100_000
export const bytesMax = 1024 * 1024 * 1024
export const bytesCeiling = 1024 * bytesMax

export interface PackOptions extends Required<DownloadTarOptions> {
  readonly isIgnored: (path: string) => boolean
  readonly keepsLinks: boolean
}

/** The receiver of entries; those of folders are closed at once. */
export interface ArchiveSink {
  add(header: TarHeader): WritableStream<Uint8Array>
}

export function downloadTar(tasks: FileTasks, options: DownloadTarOptions): AsyncIterable<Uint8Array> {
  const parsed = checkKeys(options, ['path', 'entriesMax', 'bytesMax', 'onSkipped'])
  if (parsed.onSkipped !== undefined && typeof parsed.onSkipped !== 'function')
    throw new LazaretError('INVALID_REQUEST', { detail: 'onSkipped must be a function.' })
  return pack(tasks, {
    path: parseGuestPath(parsed.path === undefined ? '/workspace' : parsed.path),
    entriesMax: parseBound(parsed.entriesMax, 'entriesMax', { usual: entriesMax, most: entriesMax }),
    bytesMax: parseBound(parsed.bytesMax, 'bytesMax', { usual: bytesMax, most: bytesCeiling }),
    onSkipped: parsed.onSkipped ?? (() => undefined),
    isIgnored: () => false,
    keepsLinks: true,
  })
}

async function* pack(tasks: FileTasks, options: PackOptions): AsyncGenerator<Uint8Array, void, void> {
  await using packing = await openPacking(tasks, options)
  const { createTarPacker } = await import('modern-tar')
  const { readable, controller } = createTarPacker()
  const written = (async () => {
    try {
      await writeArchive(packing, options, controller)
      controller.finalize()
    } catch (error) {
      controller.error(error)
    }
  })()
  try {
    yield* readable as AsyncIterable<Uint8Array>
  } finally {
    packing.process.kill()
    await written
  }
}

/** The same entries for another receiver than a tar. */
export async function packInto(tasks: FileTasks, options: PackOptions, sink: ArchiveSink): Promise<void> {
  await using packing = await openPacking(tasks, options)
  await writeArchive(packing, options, sink)
}

async function openPacking(tasks: FileTasks, { path, entriesMax: most }: PackOptions): Promise<OpenTask> {
  const packing = await tasks.open({ task: 'pack', args: [path, String(most)] })
  packing.process.end()
  return packing
}

async function writeArchive(packing: OpenTask, options: PackOptions, sink: ArchiveSink): Promise<void> {
  const isWhole = await new ArchiveWriter(sink, options).write(new RecordStream(packing.process.output))
  await packing.finish()
  if (!isWhole) throw new LazaretError('FILES_LOST', { detail: 'The listing has no end.' })
}

class ArchiveWriter {
  readonly #sink: ArchiveSink
  readonly #options: PackOptions
  /** A guest that renames meanwhile can make one path appear twice, or replace a folder with a link. */
  readonly #paths = new TarPaths()
  #bytesLeft: number

  constructor(sink: ArchiveSink, options: PackOptions) {
    this.#sink = sink
    this.#options = options
    this.#bytesLeft = options.bytesMax
  }

  /** False if the records ended before the final one. */
  async write(records: RecordStream): Promise<boolean> {
    const rest = takeRests()
    for (let record = await records.next(); record !== undefined; record = await records.next()) {
      await rest()
      if (record.kind === recordKind.end) return true
      const header = this.#plan(record)
      if (record.kind !== recordKind.file) {
        if (header !== undefined) await this.#sink.add(header).close()
        continue
      }
      await (header === undefined ? skip(records) : this.#writeFile(header, records))
    }
    return false
  }

  /** The entry for a file; undefined if it gets none. */
  #plan(record: FileRecord): TarHeader | undefined {
    const info = describeRecord(record)
    if (info !== undefined && this.#options.isIgnored(info.path)) return undefined
    const isLink = info?.type === 'symlink' && !this.#options.keepsLinks
    const reason = isLink ? 'it is a link' : (explainSkipped(record, info) ?? this.#place(info))
    if (info !== undefined && reason === undefined) return headerOf(info)
    this.#options.onSkipped({ path: record.path.toString(), reason: reason ?? 'unreadable' })
    return undefined
  }

  #place(info: FileInfo | undefined): string | undefined {
    const kind = info?.type === 'symlink' ? 'link' : info?.type
    const isArchived = kind === 'file' || kind === 'folder' || kind === 'link'
    return info === undefined || !isArchived ? undefined : this.#paths.add(info.path, kind)
  }

  async #writeFile(header: TarHeader, records: RecordStream): Promise<void> {
    this.#bytesLeft -= header.size
    if (this.#bytesLeft < 0) {
      throw new LazaretError('FILE_TOO_LARGE', {
        detail: `The files together are longer than ${this.#options.bytesMax} bytes.`,
      })
    }
    const body = this.#sink.add(header).getWriter()
    let left = header.size
    try {
      for await (const piece of records.content()) {
        left -= piece.length
        await body.write(piece)
      }
      // A guest has truncated it while it was read.
      for (; left > 0; left -= Math.min(left, zeros.length)) await body.write(zeros.subarray(0, left))
      await body.close()
    } catch (error) {
      await body.abort(error).catch(() => undefined)
      throw error
    }
  }
}

const zeros = Buffer.alloc(64 * 1024)

async function skip(records: RecordStream): Promise<void> {
  for await (const _ of records.content());
}

/** Why an entry cannot be in any archive. */
function explainSkipped(record: FileRecord, info: FileInfo | undefined): string | undefined {
  if (info === undefined) return 'unreadable'
  if (!info.isNameable) return 'its name is not UTF-8'
  const name = parseTarPath(info.path)
  if ('refused' in name) return name.refused
  if (info.type === 'file' || info.type === 'folder') return undefined
  if (info.type !== 'symlink') return `it is a ${info.type}`
  const target = parseLinkTarget(record.target.toString(), info.path)
  return 'refused' in target ? target.refused : undefined
}

/** 2242: eleven octal digits of seconds, the most that every reader of a tar takes. */
const modifiedMsMax = (8 ** 11 - 1) * 1000

function headerOf(info: FileInfo): TarHeader {
  const mtime = new Date(Math.min(Math.max(0, info.modifiedMs), modifiedMsMax))
  const common = { mode: info.mode & 0o777, mtime, uid: 0, gid: 0 }
  if (info.type === 'folder') return { ...common, name: `${info.path}/`, type: 'directory', size: 0 }
  if (info.type === 'symlink')
    return { ...common, name: info.path, type: 'symlink', size: 0, linkname: info.target ?? '' }
  return { ...common, name: info.path, type: 'file', size: info.bytes }
}
