/**
 * A tmpfs whose folders share its size; each appears at its own path. `step_divided_tmpfs` in
 * native/cell/build/mounts.c reads the record.
 */
import type { PayloadWriter } from '../launch/frames.ts'

export interface DividedTmpfsRecord {
  readonly do: 'divided-tmpfs'
  readonly path: string
  readonly flags: number
  readonly options: string
  /** The owner of its folders. */
  readonly uid: number
  readonly gid: number
  readonly parts: readonly TmpfsPart[]
}

export interface TmpfsPart {
  readonly name: string
  readonly mode: number
  /** The other path at which it appears; absent if there is none. */
  readonly path?: string
}

export function encodeDividedTmpfs(record: DividedTmpfsRecord, payload: PayloadWriter): PayloadWriter {
  payload.string(record.path).u64(record.flags).string(record.options)
  payload.u32(record.uid).u32(record.gid).u32(record.parts.length)
  for (const { name, mode, path = '' } of record.parts) payload.string(name).u32(mode).string(path)
  return payload
}
