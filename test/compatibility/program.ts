/** What the tables of this folder hold: an honest program, what it prints, and where a wall makes it print otherwise. */
import type { ProtectionLevel } from '../../src/index.ts'

/** What holds a program back, in the words of the receipt and of ARCHITECTURE.md. */
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
  /** Levels at which it differs; everywhere when it is not said. */
  readonly at?: readonly ProtectionLevel[]
  readonly layer: Layer
  readonly prints: string
  readonly reason: string
  /** What somebody who meets it can do. */
  readonly instead: string
}

export interface CompatibilityProgram {
  /** What works; it is a row of docs/reference/compatibility.md. */
  readonly title: string
  readonly code: string
  /** Exactly what it writes to stdout, outside and, but for its differences, inside. It ends with exit code 0. */
  readonly prints: string
  /** Some machines refuse it by themselves: nothing can be said of outside. */
  readonly outsideVaries?: true
  readonly stdin?: string
  readonly args?: readonly string[]
  readonly files?: Readonly<Record<string, string>>
  /** Programs of the machine without which there is nothing to try. */
  readonly needs?: readonly string[]
  readonly differs?: readonly Difference[]
}

/** The difference that holds at a level, if one does. */
export function differenceAt(
  { differs = [] }: Pick<CompatibilityProgram, 'differs'>,
  level: ProtectionLevel,
): Difference | undefined {
  return differs.find(({ at }) => at === undefined || at.includes(level))
}
