/** Options and results of copying a folder, in either direction. */
import { LazaretError } from '../../core/errors/errors.ts'
import { checkKeys } from '../checks.ts'
import { bytesCeiling, bytesMax, entriesMax } from './tar/download-tar.ts'
import type { SkippedFile } from './tar/download-tar.ts'
import { parseBound } from './file-options.ts'
import { parseGuestPath } from './guest-path.ts'
import { parseIgnore } from './ignore-rules.ts'

export interface FolderOptions {
  /** The folder of the sandbox. /workspace by default. */
  readonly path?: string
  /**
   * Patterns of paths that are left out: `node_modules` and `*.log` at any depth, `build/*.map` relative to the folder. The
   * syntax is that of `collect`. A folder is left out with its contents.
   */
  readonly ignore?: readonly string[]
  /** 100,000 by default, and at most. */
  readonly entriesMax?: number
  /** The bytes of all files together. 1 GiB by default. */
  readonly bytesMax?: number
  /** Called when a file or folder has been copied. If it throws, copying ends with that error. */
  readonly onProgress?: (progress: FolderProgress) => void
}

export interface FolderProgress {
  /** Below the folder; guest text in a download. */
  readonly path: string
  /** Entries copied so far. */
  readonly entries: number
  readonly bytes: number
}

export interface CopiedFolder {
  readonly entries: number
  /** The bytes of all files. */
  readonly bytes: number
  /** The first thousand paths that were left out, without those of `ignore`. */
  readonly skipped: readonly SkippedFile[]
}

const skippedMax = 1000

export interface ParsedFolderOptions {
  readonly path: string
  readonly entriesMax: number
  readonly bytesMax: number
  readonly isIgnored: (path: string) => boolean
}

/** Throws INVALID_REQUEST. */
export function parseFolderOptions(
  options: FolderOptions,
): ParsedFolderOptions & { readonly copied: Copied } {
  const keys = ['path', 'ignore', 'entriesMax', 'bytesMax', 'onProgress'] as const
  const parsed = checkKeys(options, keys)
  const { onProgress } = parsed
  if (onProgress !== undefined && typeof onProgress !== 'function')
    throw new LazaretError('INVALID_REQUEST', { detail: 'onProgress must be a function.' })
  return {
    path: parseGuestPath(parsed.path === undefined ? '/workspace' : parsed.path),
    entriesMax: parseBound(parsed.entriesMax, 'entriesMax', { usual: entriesMax, most: entriesMax }),
    bytesMax: parseBound(parsed.bytesMax, 'bytesMax', { usual: bytesMax, most: bytesCeiling }),
    isIgnored: parseIgnore(parsed.ignore),
    copied: new Copied(onProgress),
  }
}

/** Checks a caller's path of a host folder. Throws INVALID_REQUEST. */
export function parseHostPath(value: unknown, name: 'from' | 'to'): string {
  if (typeof value === 'string' && value !== '' && !value.includes('\0')) return value
  throw new LazaretError('INVALID_REQUEST', { detail: `${name} must be the path of a folder of the host.` })
}

/** An error of the host's file system as a refusal that names the caller's option. */
export function hostError(name: 'from' | 'to', cause: unknown): unknown {
  if (cause instanceof LazaretError || !(cause instanceof Error) || !('code' in cause)) return cause
  return new LazaretError('INVALID_REQUEST', { detail: `${name}: ${cause.message}.`, cause })
}

/** Counts what was copied, and reports it. */
export class Copied implements CopiedFolder {
  entries = 0
  bytes = 0
  readonly skipped: SkippedFile[] = []
  readonly #onProgress: FolderOptions['onProgress']

  constructor(onProgress: FolderOptions['onProgress']) {
    this.#onProgress = onProgress
  }

  add(path: string, bytes: number): void {
    this.entries++
    this.bytes += bytes
    this.#onProgress?.({ path, entries: this.entries, bytes: this.bytes })
  }

  readonly skip = (skipped: SkippedFile): void => {
    if (this.skipped.length < skippedMax) this.skipped.push(skipped)
  }

  get result(): CopiedFolder {
    const { entries, bytes, skipped } = this
    return { entries, bytes, skipped }
  }
}
