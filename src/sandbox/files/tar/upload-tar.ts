/** Unpacks a tar from outside into a folder of the sandbox, entry by entry, as it arrives. */
import { LazaretError } from '../../../core/errors/errors.ts'
import { checkKeys } from '../../checks.ts'
import { parseBound } from '../file-options.ts'
import type { FileProcess } from '../file-process.ts'
import { encodeRecord, recordKind } from '../file-records.ts'
import type { FileTasks } from '../file-tasks.ts'
import { parseGuestPath } from '../guest-path.ts'
import { readTarEntries } from './tar-entries.ts'
import type { TarEntry } from './tar-entries.ts'
import { gunzipTar, parseTarSource } from './tar-source.ts'
import type { TarSource } from './tar-source.ts'

export interface UploadTarOptions {
  /** The folder, created if it is missing. /workspace by default. */
  readonly path?: string
  /** The most entries. 100,000 by default, and at most. */
  readonly entriesMax?: number
  /** The bytes of the unpacked tar. 1 GiB by default; the sandbox's `diskBytes` applies too. */
  readonly bytesMax?: number
}

export interface UploadedTar {
  readonly entries: number
  /** The bytes of all files. */
  readonly bytes: number
}

const entriesMax = 100_000
const bytesMax = 1024 * 1024 * 1024
const bytesCeiling = 1024 * bytesMax
/** Records are batched up to this size. */
const batchBytes = 64 * 1024

const kinds = {
  file: recordKind.file,
  folder: recordKind.folder,
  link: recordKind.link,
  'hard-link': recordKind.hardLink,
} as const satisfies Record<TarEntry['type'], number>

export async function uploadTar(
  tasks: FileTasks,
  source: TarSource,
  options: UploadTarOptions,
): Promise<UploadedTar> {
  const parsed = checkKeys(options, ['path', 'entriesMax', 'bytesMax'])
  const path = parseGuestPath(parsed.path === undefined ? '/workspace' : parsed.path)
  const bounds = {
    entriesMax: parseBound(parsed.entriesMax, 'entriesMax', { usual: entriesMax, most: entriesMax }),
    bytesMax: parseBound(parsed.bytesMax, 'bytesMax', { usual: bytesMax, most: bytesCeiling }),
  }
  const pieces = parseTarSource(source)
  return unpackInto(tasks, path, (over) => readTarEntries(gunzipTar(untilOver(pieces, over)), bounds))
}

/** `read` is notified when the task ends, because no entries are needed then. */
export async function unpackInto(
  tasks: FileTasks,
  path: string,
  read: (over: Promise<void>) => AsyncIterable<TarEntry>,
): Promise<UploadedTar> {
  await using unpacking = await tasks.open({ task: 'unpack', args: [path] })
  const sender = new RecordSender(unpacking.process)
  const entries = read(sender.over)
  const uploaded = { entries: 0, bytes: 0 }
  try {
    for await (const entry of entries) {
      uploaded.entries++
      uploaded.bytes += entry.bytes
      await sendEntry(sender, entry)
    }
    await sender.sendEnd()
  } catch (error) {
    // If the task has ended, its own error is the cause, and the write error only a consequence.
    if (error !== taskEnded) throw await settle(unpacking.process, error)
  }
  unpacking.process.end()
  await discard(unpacking.process.output)
  await unpacking.finish()
  return uploaded
}

async function sendEntry(sender: RecordSender, entry: TarEntry): Promise<void> {
  const { type, path, target, bytes, mode, modifiedMs, body } = entry
  await sender.send(encodeRecord({ kind: kinds[type], path, target, bytes, mode: mode & 0o777, modifiedMs }))
  let left = bytes
  for await (const piece of body) {
    left -= piece.length
    await sender.send(piece)
  }
  if (left !== 0) throw new LazaretError('ARCHIVE_REFUSED', { detail: 'It is truncated.' })
}

/** Ends the input in the middle of a record, so that the task removes its unfinished file. */
async function settle(process: FileProcess, error: unknown): Promise<unknown> {
  process.end()
  await discard(process.output)
  await process.exit.catch(() => undefined)
  return error
}

async function discard(output: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of output);
}

const taskEnded = new Error('The task has ended.')

/** A source may be silent for ever, while the task may end, with its sandbox or because of a guest. */
async function* untilOver(
  source: AsyncIterable<Uint8Array>,
  over: Promise<void>,
): AsyncGenerator<Uint8Array, void, void> {
  const pieces = source[Symbol.asyncIterator]()
  let isSilent = true
  try {
    for (;;) {
      isSilent = true
      const next = await Promise.race([pieces.next(), over])
      if (next === undefined) throw taskEnded
      isSilent = false
      if (next.done === true) return
      yield next.value
    }
  } finally {
    const left = Promise.resolve(pieces.return?.())
    if (isSilent) left.catch(() => undefined)
    else await left
  }
}

class RecordSender {
  readonly #process: FileProcess
  /** Resolves when the task has ended, successfully or not. */
  readonly over: Promise<void>
  #batch: Uint8Array[] = []
  #batchBytes = 0
  #isOver = false

  constructor(process: FileProcess) {
    this.#process = process
    const end = (): void => void (this.#isOver = true)
    this.over = process.exit.then(end, end)
  }

  async send(bytes: Uint8Array): Promise<void> {
    this.#batch.push(bytes)
    this.#batchBytes += bytes.length
    if (this.#batchBytes >= batchBytes) await this.#flush()
  }

  async sendEnd(): Promise<void> {
    const nothing = { path: '', target: '', bytes: 0, mode: 0, modifiedMs: 0 }
    await this.send(encodeRecord({ kind: recordKind.end, ...nothing }))
    await this.#flush()
  }

  async #flush(): Promise<void> {
    const bytes = Buffer.concat(this.#batch)
    this.#batch = []
    this.#batchBytes = 0
    const written = this.#process.write(bytes).catch(() => this.over)
    await Promise.race([written, this.over])
    if (this.#isOver) throw taskEnded
  }
}
