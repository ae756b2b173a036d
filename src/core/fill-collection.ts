/** Puts decoded members into a Map or a Set, in parts, so that their pace can be watched. */
import type { Pace } from './decode-pace.ts'

/** A collection this small is made in no time, whatever lies in it. */
const uncheckedMax = 64
const partLength = 1024

/** Calls `add` for each index below `length`. Without a pace, the members are trusted. */
export function fillCollection(length: number, add: (index: number) => void, pace: Pace | undefined): void {
  if (pace === undefined || length <= uncheckedMax) addRange(0, length, add)
  else
    for (let start = 0; start < length; start += partLength) {
      const end = Math.min(length, start + partLength)
      pace.spend(end - start, () => addRange(start, end, add))
    }
}

function addRange(start: number, end: number, add: (index: number) => void): void {
  for (let index = start; index < end; index++) add(index)
}
