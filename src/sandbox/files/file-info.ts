/** The metadata of a file in a sandbox. */
import { isUtf8 } from 'node:buffer'

import { recordKind } from './file-records.ts'
import type { FileRecord } from './file-records.ts'

export type FileType = 'file' | 'folder' | 'symlink' | 'fifo' | 'socket' | 'character-device' | 'block-device'

/** Names and targets are guest text. */
export interface FileInfo {
  readonly name: string
  /** The requested path, or the path relative to the listed folder. */
  readonly path: string
  readonly type: FileType
  readonly bytes: number
  /** Permissions, and the bits above them: 0o7777 at most. */
  readonly mode: number
  readonly modifiedMs: number
  /** Where a symlink leads. */
  readonly target?: string
  /** False if the name is not UTF-8: then the path is only an approximation, which no operation accepts. */
  readonly isNameable: boolean
}

const types: Readonly<Record<number, FileType>> = {
  [recordKind.file]: 'file',
  [recordKind.folder]: 'folder',
  [recordKind.link]: 'symlink',
  [recordKind.fifo]: 'fifo',
  [recordKind.socket]: 'socket',
  [recordKind.characterDevice]: 'character-device',
  [recordKind.blockDevice]: 'block-device',
}

/** Undefined for a record that is not about a file. */
export function describeRecord(record: FileRecord, path = record.path.toString()): FileInfo | undefined {
  const type = types[record.kind]
  if (type === undefined) return undefined
  return {
    name: path.slice(path.replace(/\/+$/, '').lastIndexOf('/') + 1).replace(/(?<=.)\/+$/, ''),
    path,
    type,
    bytes: record.bytes,
    mode: record.mode,
    modifiedMs: record.modifiedMs,
    ...(type === 'symlink' ? { target: record.target.toString() } : {}),
    isNameable: isUtf8(record.path),
  }
}
