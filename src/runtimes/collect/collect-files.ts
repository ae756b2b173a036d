/**
 * Collects files of the workspace after a run. The main process has ended, and all other processes are killed first, so
 * nothing changes during the collection. A process in the cell lists the files, the host chooses, and a process in the cell
 * reads them. The host itself opens no path.
 */
import type { Clock } from '../../core/clock.ts'
import type { Reservation } from '../../core/host-account.ts'
import type { Limits } from '../../core/limits.ts'
import type { Cell } from '../../jail/cell/cell.ts'
import type { MissingFiles, MissingReason } from '../../core/missing-files.ts'
import { Blocks } from '../../result/blocks.ts'
import { chooseFiles, fitToLimits } from './choice.ts'
import { Deadline } from './deadline.ts'
import { FileReceiver, decodeListing, encodeWanted, isWholeListing } from './listing.ts'
import type { ListedFile } from './listing.ts'
import { MissingLog } from './missing-log.ts'
import { parsePattern } from './pattern.ts'
import type { Pattern } from './pattern.ts'
import { runCollector } from './run-collector.ts'
import type { CollectGround } from './run-collector.ts'

export interface CollectedFiles {
  /** By path relative to /workspace, sorted. The paths are guest text. */
  readonly files: Readonly<Record<string, Uint8Array>>
  /** Those of the files that their owner may execute. */
  readonly executables: readonly string[]
  /** Matching folders that are empty, sorted. */
  readonly folders: readonly string[]
  readonly missing: readonly MissingFiles[]
}

export interface CollectContext {
  readonly ground: CollectGround
  readonly limits: Limits
  readonly clock: Clock
  readonly signal: AbortSignal | undefined
  /** Counts the files. Default: nothing counts. */
  readonly room?: Reservation | undefined
}

export const noFiles: CollectedFiles = { files: {}, executables: [], folders: [], missing: [] }
/** The cell ended before any file could be collected. */
export const lostFiles: CollectedFiles = { ...noFiles, missing: [unknown('ended')] }

function unknown(reason: MissingReason): MissingFiles {
  return { reason, count: 0, paths: [] }
}

/** Ordinary trees take milliseconds; on a heavily overloaded machine they took 4 s. */
const collectMs = 10_000
/** In pieces, and joined. */
export const formsOfFile = 2
const listingBytesMax = 8 * 1024 * 1024
/** With more base folders than this, the whole workspace is listed instead. */
const basesMax = 256

/** Never rejects because of a guest's actions: missing files are omitted and reported. */
export async function collectFiles(
  cell: Cell,
  texts: readonly string[],
  { ground, limits, clock, signal, room }: CollectContext,
): Promise<CollectedFiles> {
  const deadline = new Deadline(collectMs, clock, signal)
  const missing = new MissingLog()
  try {
    await deadline.race(cell.killGuests())
    if (await deadline.isOver()) return { ...noFiles, missing: [unknown(deadline.missingReason)] }
    const patterns = texts.flatMap(parsePattern)
    const listed = await listFiles(cell, patterns, { ground, deadline })
    // The names of what is listed are bounded, too.
    if (!isWholeListing(listed)) missing.add((await deadline.isOver()) ? deadline.missingReason : 'count')
    const chosen = await chooseFiles(decodeListing(listed), patterns, { deadline, missing })
    const wanted = fitToLimits(chosen.files, limits.resultBytes, missing)
    const bytes = wanted.reduce((sum, file) => sum + file.bytes, 0)
    if (room?.tryGrow(formsOfFile * bytes) === false) {
      for (const { path } of wanted) missing.add('room', path)
      return { ...noFiles, folders: chosen.folders, missing: missing.list }
    }
    const receiver = new FileReceiver(wanted)
    if (wanted.length > 0) await readFiles(cell, receiver, { wanted, ground, deadline })
    for (const [path, reason] of receiver.unread) missing.add(reason, path)
    const isOver = await deadline.isOver()
    for (const { path } of receiver.rest) missing.add(isOver ? deadline.missingReason : 'changed', path)
    const files = Object.fromEntries(receiver.files)
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

async function listFiles(
  cell: Cell,
  patterns: readonly Pattern[],
  { ground, deadline }: { readonly ground: CollectGround; readonly deadline: Deadline },
): Promise<Buffer> {
  const listed = new Blocks()
  const collector = {
    task: 'list',
    ground,
    arguments: findBases(patterns),
    outputBytes: listingBytesMax,
    wallMs: deadline.leftMs,
    onBytes: (bytes: Buffer) => listed.add(bytes),
  } as const
  await deadline.race(runCollector(cell, collector))
  return listed.join()
}

/** The smallest set of folders that contain everything that can match. */
function findBases(patterns: readonly Pattern[]): string[] {
  const all = new Set(patterns.map(({ base }) => base))
  const isInside = (base: string) => all.has('.') || hasParent(base, all)
  const bases = [...all].filter((base) => base === '.' || !isInside(base))
  return bases.length > basesMax ? ['.'] : bases
}

function hasParent(path: string, folders: ReadonlySet<string>): boolean {
  for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1))
    if (folders.has(path.slice(0, at))) return true
  return false
}

async function readFiles(
  cell: Cell,
  receiver: FileReceiver,
  {
    wanted,
    ground,
    deadline,
  }: { readonly wanted: readonly ListedFile[]; readonly ground: CollectGround; readonly deadline: Deadline },
): Promise<void> {
  const collector = {
    task: 'read',
    ground,
    arguments: [],
    stdin: encodeWanted(wanted),
    // The receiver enforces the exact sizes. This looser limit allows for the headers of files and pieces.
    outputBytes: wanted.reduce((sum, { bytes }) => sum + 2 * bytes + 64, 0),
    wallMs: deadline.leftMs,
    onBytes: (bytes: Buffer) => receiver.push(bytes),
  } as const
  await deadline.race(runCollector(cell, collector))
}
