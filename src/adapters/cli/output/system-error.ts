import { getSystemErrorMessage } from 'node:util'

/** The operating system's message; `undefined` for any other error. */
export function describeSystemError(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('errno' in error) || typeof error.errno !== 'number') return undefined
  return getSystemErrorMessage(error.errno)
}
