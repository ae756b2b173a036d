/** `--file path[:guest path]`: host files and folders as the files of a request. */
import { readdir, stat } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { basename, isAbsolute, join, posix, relative, resolve } from 'node:path'
import { LazaretError } from '../../../core/errors/errors.ts'
import { readFileBounded, type ReadBound } from './bounded-read.ts'
import { describeSystemError } from '../output/system-error.ts'
import { formatSize } from './units.ts'
import { UsageError } from './usage-error.ts'

/** More files than this are a mistake in the command line, such as a whole home folder. */
const filesMax = 10_000

export interface CollectedFiles {
  /** Keys are paths below /workspace. */
  readonly files: Readonly<Record<string, Uint8Array>>
  /** Host paths that were left out: symbolic links inside a folder, sockets, pipes, devices. */
  readonly skipped: readonly string[]
}

/** Where one file or folder comes from and goes to. */
interface Placement {
  readonly host: string
  readonly guest: string
}

/**
 * Reads all that the `--file` options name. A link that the user names is followed; a link found inside a folder is
 * left out, because it may lead to anything.
 */
export async function collectFiles(options: readonly string[], bound: ReadBound): Promise<CollectedFiles> {
  const files = new Map<string, Uint8Array>()
  const skipped: string[] = []
  const pending = options.map(parsePlacement)
  let bytesLeft = bound.bytesMax
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const kind = await findKind(next, options)
    if (kind === 'folder') {
      const { placements, others } = await listFolder(next)
      pending.push(...placements)
      skipped.push(...others)
      continue
    }
    if (files.size === filesMax) throw tooLarge(`--file names more than ${filesMax} files.`)
    const content = await readFileBounded(next.host, bound)
    bytesLeft -= content.length
    if (bytesLeft < 0)
      throw tooLarge(`The files named by --file are together larger than ${formatSize(bound.bytesMax)}.`)
    files.set(next.guest, content)
  }
  return { files: Object.fromEntries(files), skipped }
}

/** Splits at the last colon, unless the whole text is the name of something that exists. */
export function parsePlacement(option: string): Placement {
  const colon = option.lastIndexOf(':')
  if (colon <= 0 || existsSync(option)) return { host: option, guest: defaultGuestPath(option) }
  const host = option.slice(0, colon)
  return { host, guest: normalizeGuestPath(option.slice(colon + 1), option) }
}

/**
 * A path below the current folder keeps its folders, so that a script finds its data at the same relative path as
 * outside. Any other path is reduced to its last part; the contents of `.` and `..` go to /workspace itself.
 */
function defaultGuestPath(host: string): string {
  const name = basename(host)
  if (name === '.' || name === '..' || name === '') return ''
  const below = relative(process.cwd(), resolve(host))
  return isAbsolute(host) || below.startsWith('..') ? basename(resolve(host)) : below
}

function normalizeGuestPath(path: string, option: string): string {
  const inside = posix.normalize(path.replace(/^\/workspace(?=\/|$)\/*/, '') || '.')
  if (posix.isAbsolute(inside) || inside === '..' || inside.startsWith('../')) {
    throw new UsageError(
      `--file ${option}: the guest path ${path} is outside /workspace.`,
      'Give a path relative to /workspace, such as data.csv:input/data.csv.',
    )
  }
  return inside === '.' ? '' : inside.replace(/\/$/, '')
}

async function findKind({ host, guest }: Placement, options: readonly string[]): Promise<'file' | 'folder'> {
  try {
    if ((await stat(host)).isDirectory()) return 'folder'
  } catch (error) {
    const option = options.find((text) => parsePlacement(text).host === host) ?? host
    throw new UsageError(
      `--file ${option}: cannot read ${host}: ${describeSystemError(error) ?? String(error)}.`,
      'Check the path; it is looked up from the current folder.',
    )
  }
  if (guest !== '') return 'file'
  throw new UsageError(`--file ${host}: a file needs a name in /workspace.`, `Write ${host}:name instead.`)
}

async function listFolder({
  host,
  guest,
}: Placement): Promise<{ placements: Placement[]; others: string[] }> {
  const entries = await readdir(host, { withFileTypes: true })
  const isWanted = (entry: (typeof entries)[number]): boolean => entry.isFile() || entry.isDirectory()
  return {
    placements: entries
      .filter(isWanted)
      .map(({ name }) => ({ host: join(host, name), guest: guest === '' ? name : `${guest}/${name}` })),
    others: entries.filter((entry) => !isWanted(entry)).map(({ name }) => join(host, name)),
  }
}

function tooLarge(detail: string): LazaretError {
  return new LazaretError('INPUT_TOO_LARGE', {
    detail,
    hint: 'Name fewer files, or raise `defaults.inputBytes` in your configuration.',
  })
}
