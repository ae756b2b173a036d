/**
 * One small program and its complete expected result. What a case omits must be empty: no value, no output, no display,
 * and exit code 0. The programs follow Python's own documentation.
 */
import type { JsonTagged } from '../../../src/core/values/values.ts'
import type { MimeBundle } from '../../../src/core/output.ts'
import type { RunRequest } from '../../../src/index.ts'

export interface PythonCase {
  /** The feature, in the documentation's words. */
  readonly feature: string
  readonly code: string
  /** The first version of Python that has the feature, or shows it in this way. */
  readonly since?: readonly [major: number, minor: number]
  /** In the tagged encoding. */
  readonly value?: JsonTagged
  readonly stdout?: string | RegExp
  readonly stderr?: string | RegExp
  readonly displays?: readonly MimeBundle[]
  readonly exitCode?: number
  /** The run fails with this error; with `isSyntax` the code does not compile. */
  readonly error?: {
    readonly name: string
    readonly message?: string | RegExp
    readonly line?: number
    readonly isSyntax?: true
  }
  readonly request?: Pick<RunRequest, 'input' | 'args' | 'stdin' | 'files' | 'env'>
}

export const tuple = (...items: readonly JsonTagged[]): JsonTagged => ({ $type: 'tuple', value: items })
export const bytes = (text: string): JsonTagged => ({
  $type: 'bytes',
  value: Buffer.from(text, 'latin1').toString('base64'),
})
