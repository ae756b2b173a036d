/** The error for a build whose result cannot be used. */
import { LazaretError } from '../core/errors/errors.ts'

export function environmentFailed(detail: string, hint?: string): LazaretError {
  return new LazaretError('ENVIRONMENT_FAILED', { detail, ...(hint !== undefined && { hint }) })
}
