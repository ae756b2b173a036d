/** A hostile value, and its expected result. */
import { Unserializable } from '../../../src/core/values/encode-leaf.ts'

export interface HostileValue {
  /** What makes it hostile. */
  readonly title: string
  /** The program, or the forged JSON. */
  readonly code: string
  /** The expected live value; `anything` if only an orderly end counts, `nothing` if there is none. */
  readonly value: unknown
  /** Whether something was cut; `truncated` must agree. */
  readonly isCut?: boolean | 'either'
  readonly outcome?: 'timed-out' | 'failed' | 'out-of-memory'
}

export const anything = Symbol('anything')
export const nothing = Symbol('nothing')
export const shown = (text: string): Unserializable => new Unserializable(text)
/** The limit for results of the tables' runs; `large-values.test.ts` uses the default of 16 MiB. */
export const resultBytes = 1024 * 1024
export const tooLarge = shown(`[larger than ${resultBytes} bytes]`)

export type HostileRow = readonly [title: string, code: string, value: unknown, rest?: Partial<HostileValue>]

export function readRows(rows: readonly HostileRow[]): readonly HostileValue[] {
  return rows.map(([title, code, value, rest]) => ({ title, code, value, ...rest }))
}
