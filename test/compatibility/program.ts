/** An entry of this folder's tables: an honest program, its output, and where a wall changes that output. */
import type { ProtectionLevel } from '../../src/index.ts'

/** What restricts a program, in the terms of the receipt and of ARCHITECTURE.md. */
export type Layer =
  | 'namespaces'
  | 'seccomp'
  | 'landlock'
  | 'mounts'
  | 'rlimits'
  | 'cgroup'
  | 'network'
  | 'harness'

export interface Difference {
  /** The levels at which it differs; all levels if absent. */
  readonly at?: readonly ProtectionLevel[]
  readonly layer: Layer
  readonly prints: string
  readonly reason: string
  /** What the user can do in its place. */
  readonly instead: string
}

export interface CompatibilityProgram {
  /** What works. It is a row of docs/reference/compatibility.md. */
  readonly title: string
  readonly code: string
  /** Its exact stdout, outside and, except for its differences, inside. It must exit with 0. */
  readonly prints: string
  /** Some machines refuse it without Lazaret, so nothing is expected outside. */
  readonly outsideVaries?: true
  readonly stdin?: string
  readonly args?: readonly string[]
  readonly files?: Readonly<Record<string, string>>
  /** Programs that must be installed. */
  readonly needs?: readonly string[]
  readonly differs?: readonly Difference[]
}

/** The difference that applies at a level, if any. */
export function differenceAt(
  { differs = [] }: Pick<CompatibilityProgram, 'differs'>,
  level: ProtectionLevel,
): Difference | undefined {
  return differs.find(({ at }) => at === undefined || at.includes(level))
}
