/** Creates a Lazaret: `createLazaret` is public, and `openEngine` is for adapters of this package. */
import type { Lazaret } from './api.ts'
import { Engine } from './engine.ts'
import type { IsolatesOptions } from './runs/isolates.ts'
import type { LazaretOptions } from './options/options.ts'
import { requireNode } from './require-node.ts'

/**
 * Creates a Lazaret for this machine.
 *
 * @throws {LazaretError} INVALID_REQUEST for wrong options, JAIL_UNAVAILABLE if cells cannot exist, AUDIT_FAILED if the
 * audit log cannot be opened, RUNTIME_UNAVAILABLE if the host is an older Node, Bun or Deno.
 * @example
 * ```ts
 * await using lazaret = createLazaret({ ceilings: { wallMs: 10_000 } })
 * ```
 */
export function createLazaret(options: LazaretOptions = {}): Lazaret {
  requireNode()
  return new Engine(options)
}

/** A Lazaret, with its internal parts. */
export type OpenEngine = ReturnType<typeof Engine.open>

/** For adapters that set more about isolates than a Lazaret's options allow, or that read programs before they run. */
export function openEngine(options: LazaretOptions, isolates: IsolatesOptions = {}): OpenEngine {
  requireNode()
  return Engine.open(options, isolates)
}
