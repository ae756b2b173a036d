/** What a hostile value has to come to. */
import { Unserializable } from '../../../src/core/values/encode-leaf.ts'

export interface HostileValue {
  /** What makes it hostile. */
  readonly title: string
  /** The program, or the forged JSON. */
  readonly code: string
  /** The live value; `anything` where only a calm end counts, `nothing` where there is none. */
  readonly value: unknown
  /** Whether something was cut; then, and only then, `truncated` says so. */
  readonly isCut?: boolean | 'either'
  readonly outcome?: 'timed-out' | 'failed' | 'out-of-memory'
}

export const anything = Symbol('anything')
export const nothing = Symbol('nothing')
export const shown = (text: string): Unserializable => new Unserializable(text)
/** What the runs of the tables may send back; `large-values.test.ts` goes to the default of 16 MiB. */
export const resultBytes = 1024 * 1024
export const tooLarge = shown(`[larger than ${resultBytes} bytes]`)

export type HostileRow = readonly [title: string, code: string, value: unknown, rest?: Partial<HostileValue>]

export function readRows(rows: readonly HostileRow[]): readonly HostileValue[] {
  return rows.map(([title, code, value, rest]) => ({ title, code, value, ...rest }))
}
