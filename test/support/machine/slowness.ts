/**
 * How much slower this machine's processors are now than an idle one of the kind on which bounds of processor time were set.
 * Processor time is not the same on a busy machine: processes share caches, memory and the two halves of a core, and the same
 * work then takes up to four times as much of it.
 */
import { processorMs } from '../../../src/core/clock.ts'

/** Reads and allocates like the work that tests measure: a text with many keys, parsed and written. */
const sample = JSON.stringify(
  Array.from({ length: 5_000 }, (_, n) => ({ [`key${n}`]: `text ${n}`, n, list: [n, n + 1] })),
)
/** What the control takes on an idle Xeon at 2.1 GHz: the least of a thousand times. */
const idleMs = 9
/** A bound that grows further would bound nothing. */
const slownessMax = 5

/** At least 1. */
export function slowness(): number {
  const started = processorMs()
  if (JSON.stringify(JSON.parse(sample)).length !== sample.length) throw new Error('The control is wrong.')
  return Math.min(slownessMax, Math.max(1, (processorMs() - started) / idleMs))
}
