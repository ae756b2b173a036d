/** The workspace files that the harness has compiled, with the maps of their positions. */
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

/** `names` are the names by which engines refer to the file. */
export function keepCompiledFile(names: readonly [path: string, url: string], file: CompiledFile): void {
  set(files, names[0], file)
  set(files, names[1], file)
}

/** `undefined` for files that run as they are written. */
export const compiledFile = (name: string): CompiledFile | undefined => get(files, name)
