/** The record of a claim of host ids; native/cell/build/claims.c reads it. */
import type { PayloadWriter } from '../launch/frames.ts'

/** Ranges of bytes of a file, in a row. */
export interface Blocks {
  readonly first: number
  readonly ids: number
  readonly count: number
  /** The offsets are ids of this host's users, and a block is free only if no process has one of them. */
  readonly mustBeIdle: boolean
}

export type ClaimRecord = { readonly do: 'claim-ids' } & Blocks

export function encodeClaim(record: ClaimRecord, payload: PayloadWriter): PayloadWriter {
  const { first, ids, count, mustBeIdle } = record
  return payload.u32(first).u32(ids).u32(count).u32(Number(mustBeIdle))
}
