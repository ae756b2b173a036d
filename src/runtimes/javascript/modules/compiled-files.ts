/** Workspace files that were compiled here, and the way from a compiled place to the written one. */
import { uncurryThis } from '../../../core/primordials.ts'
import type { MapPosition } from './positions.ts'

export interface CompiledFile {
  readonly path: string
  readonly toWritten: MapPosition
}

const FileMap = Map<string, CompiledFile>
const get = uncurryThis(FileMap.prototype.get)
const set = uncurryThis(FileMap.prototype.set)
const files = new FileMap()

/** `names` are what engines call the file: its path, or its address. */
export function keepCompiledFile(names: readonly [path: string, url: string], file: CompiledFile): void {
  set(files, names[0], file)
  set(files, names[1], file)
}

/** `undefined` for files that run as they are written. */
export const compiledFile = (name: string): CompiledFile | undefined => get(files, name)
