/** A policy for Landlock, as the launcher reads it (native/cell/filters.c). */
import type { PayloadWriter } from '../launch/frames.ts'
import type { LandlockPolicy } from './landlock.ts'

export function encodeLandlock(
  { rulesets, rules, bindable = [] }: LandlockPolicy,
  payload: PayloadWriter,
): PayloadWriter {
  payload.u32(rulesets.length)
  for (const { abi, attributeBytes, handledFiles, handledNetwork, scoped } of rulesets) {
    payload.u32(abi).u32(attributeBytes).u64(handledFiles).u64(handledNetwork).u64(scoped)
  }
  payload.u32(rules.length)
  for (const { path, allowed } of rules) payload.string(path).u64(allowed)
  payload.u32(bindable.length)
  for (const { first, last } of bindable) payload.u32(first).u32(last)
  return payload
}
