/**
 * `--collect` of a command: the sandbox lists its files, the host chooses some, and the sandbox reads them. Processes that
 * the command left behind still run, so a file may have grown, been replaced or vanished: it is left out, with a message.
 */
import { constants } from 'node:fs'
import { posix } from 'node:path'
import { systemClock } from '../../../core/clock.ts'
import { LazaretError } from '../../../core/errors/errors.ts'
import type { MissingReason } from '../../../core/missing-files.ts'
import { chooseFiles, fitToLimits } from '../../../runtimes/collect/choice.ts'
import { type CollectedFiles, lostFiles } from '../../../runtimes/collect/collect-files.ts'
import { Deadline } from '../../../runtimes/collect/deadline.ts'
import type { ListedEntry, ListedFile } from '../../../runtimes/collect/listing.ts'
import { MissingLog } from '../../../runtimes/collect/missing-log.ts'
import { parsePattern } from '../../../runtimes/collect/pattern.ts'
import type { FileInfo } from '../../../sandbox/files/file-info.ts'
import type { Sandbox } from '../../../sandbox/sandbox.ts'

export interface CollectBound {
  readonly resultBytes: number
  readonly signal: AbortSignal
}

/** A separate process reads each file, so ten thousand files take a while. */
const collectMs = 60_000
const entriesMax = 100_000
const readersMax = 4
const wholeTree = { recursive: true, entriesMax } as const
const { S_IRUSR, S_IXUSR } = constants
const ownerMayList = S_IRUSR | S_IXUSR

/** Never rejects because of what a guest did. */
export async function collectFromSandbox(
  sandbox: Sandbox,
  texts: readonly string[],
  { resultBytes, signal }: CollectBound,
): Promise<CollectedFiles> {
  const deadline = new Deadline(collectMs, systemClock, signal)
  const missing = new MissingLog()
  try {
    const listing = await deadline.race(unlessRefused(sandbox.listFiles('/workspace', wholeTree)))
    if (listing === undefined || listing instanceof LazaretError) return lostFiles
    const { entries, isComplete } = listing
    if (!isComplete && entries.length >= entriesMax) missing.add('count')
    const chosen = await chooseFiles(listEntries(entries), texts.flatMap(parsePattern), { deadline, missing })
    const wanted = fitToLimits(chosen.files, resultBytes, missing)
    const files = await readFiles(sandbox, wanted, { deadline, missing })
    const executables = wanted.filter(({ path, isExecutable }) => isExecutable && Object.hasOwn(files, path))
    return {
      files,
      executables: executables.map(({ path }) => path),
      folders: chosen.folders,
      missing: missing.list,
    }
  } finally {
    deadline.cancel()
  }
}

function* listEntries(entries: readonly FileInfo[]): Generator<ListedEntry> {
  // What is in a folder follows it in the sorted list, but others may come in between: `a`, `a.b`, `a/b`.
  const used = new Set(entries.map(({ path }) => posix.dirname(path)))
  for (const { path, bytes, mode, type, isNameable } of entries) {
    const entry = { path, bytes, isExecutable: (mode & S_IXUSR) !== 0, isNameable }
    if (type !== 'folder') yield { ...entry, type: type === 'file' ? 'file' : 'other' }
    else if (used.has(path)) continue
    else if ((mode & ownerMayList) === ownerMayList) yield { ...entry, type: 'empty-folder' }
    else yield { ...entry, type: 'unlisted', reason: 'permission' }
  }
}

async function readFiles(
  sandbox: Sandbox,
  wanted: readonly ListedFile[],
  { deadline, missing }: { readonly deadline: Deadline; readonly missing: MissingLog },
): Promise<Record<string, Uint8Array>> {
  const contents = new Map<string, Uint8Array>()
  const refused = new Map<string, MissingReason>()
  const waiting = wanted.values()
  const read = async (): Promise<void> => {
    for (const { path, bytes } of waiting) {
      if (await deadline.isOver()) return
      const options = { encoding: 'bytes', bytesMax: bytes } as const
      const content = await unlessRefused(sandbox.readFile(`/workspace/${path}`, options))
      if (content instanceof LazaretError) refused.set(path, reasonOf(content))
      else contents.set(path, content)
    }
  }
  await deadline.race(Promise.all(Array.from({ length: readersMax }, read)))
  for (const { path } of wanted)
    if (!contents.has(path)) missing.add(refused.get(path) ?? deadline.missingReason, path)
  return Object.fromEntries(
    wanted.flatMap(({ path }) => {
      const content = contents.get(path)
      return content === undefined ? [] : [[path, content]]
    }),
  )
}

function reasonOf({ code }: LazaretError): MissingReason {
  return code === 'FILE_REFUSED' ? 'permission' : 'changed'
}

/** The error if the guest has made it impossible: by the modes of its folders, or by using up all processes. */
async function unlessRefused<T>(work: Promise<T>): Promise<T | LazaretError> {
  try {
    return await work
  } catch (error) {
    if (error instanceof LazaretError) return error
    throw error
  }
}
