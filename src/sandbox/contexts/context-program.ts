/** The program of a code context, and the files that a sandbox has to show for it. */
import type { LazaretError } from '../../core/errors/errors.ts'
import type { ContextLanguage } from '../../core/work.ts'
import type { Bind } from '../../jail/plan/shape.ts'

export interface ContextProgram {
  readonly file: string
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** Default variables, which the caller's own override. */
  readonly defaults?: Readonly<Record<string, string>>
  readonly binds: readonly Bind[]
  /** Makes the interpreter load what it will need before it gets its task. */
  readonly park?: object
  /** Data that the interpreter reserves before it runs anything. */
  readonly dataBytes: number
}

/** The program of each language, or the reason why there is none. */
export type ContextPrograms = Readonly<Record<ContextLanguage, ContextProgram | LazaretError>>
