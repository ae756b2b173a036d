/** Facts about the sources of binds: whether they are folders, and at which folder an overlay of them may begin. */
import { lstatSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

import { LazaretError } from '../../core/errors/errors.ts'
import type { CellIdentity } from '../plan/shape.ts'
import type { Lower, SourceFacts } from './sources.ts'

/** A bit of a folder's mode: all others may pass through. */
const othersMayEnter = 0o001

export const sourceFacts: SourceFacts = { isFile, realPath, lowersOf }

/** Whether a path can be shown through an overlay, as far as the mounts tell; the kernel may still refuse. */
export function hasView(path: string, kind: CellIdentity['kind']): boolean {
  return lowersOf(realPath(path), kind).length > 0
}

/** A missing path counts as a file: the step that opens it reports the error. */
function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true
}

/**
 * The wider the folder, the fewer overlays a cell needs. Root takes the whole of a mount. For a user the kernel makes
 * an overlay only where nothing else is mounted inside, and then a folder at the root is the widest.
 */
function lowersOf(real: string, kind: CellIdentity['kind']): Lower[] {
  const isFolder = isRealFolder(real)
  if (isFolder === undefined) return []
  const mountPoints = readMountPoints()
  if (isFolder && mountPoints.some((point) => isInside(point, real))) return []
  const nearest = isFolder ? real : dirname(real)
  const [top = ''] = real.slice(1).split('/')
  const mount = mountPoints
    .filter((point) => point === real || isInside(real, point))
    .reduce((longest, point) => (point.length > longest.length ? point : longest), '/')
  const wide = kind === 'own' ? mount : `/${top}`
  return [...new Set([wide, nearest])]
    .filter((folder) => (folder === mount || isInside(folder, mount)) && !isFile(folder))
    .filter((folder) => kind === 'own' || !mountPoints.some((point) => isInside(point, folder)))
    .filter((folder) => kind === 'shared' || isOpen(folder, nearest))
    .map((folder) => ({ folder, inside: real.slice(folder.length).replace(/^\/+/, '') || '.' }))
}

function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

/** Undefined if it cannot be looked at. */
function isRealFolder(path: string): boolean | undefined {
  try {
    return lstatSync(path).isDirectory()
  } catch {
    return undefined
  }
}

function isInside(path: string, folder: string): boolean {
  return path !== folder && path.startsWith(folder === '/' ? '/' : `${folder}/`)
}

/** Cells of root look for a source with their own ids, so each folder on the way has to let everybody pass. */
function isOpen(from: string, to: string): boolean {
  for (let folder = to; isInside(folder, from); folder = dirname(folder)) {
    if ((statSync(folder).mode & othersMayEnter) === 0) return false
  }
  return true
}

/** The fifth column, with spaces and similar characters in octal: proc_pid_mountinfo(5). */
function readMountPoints(): string[] {
  return readMounts().map((line) =>
    (line.split(' ', 5)[4] ?? '').replace(/\\(\d{3})/g, (_, digits: string) =>
      String.fromCodePoint(Number.parseInt(digits, 8)),
    ),
  )
}

function readMounts(): string[] {
  try {
    return readFileSync('/proc/self/mountinfo', 'utf8').trimEnd().split('\n')
  } catch (cause) {
    throw new LazaretError('CELL_FAILED', {
      detail: 'The list of mounts of this machine could not be read.',
      cause,
    })
  }
}
