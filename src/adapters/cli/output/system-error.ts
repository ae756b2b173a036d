import { getSystemErrorMessage } from 'node:util'

/** What the operating system said, in its own words; `undefined` for any other error. */
export function describeSystemError(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('errno' in error) || typeof error.errno !== 'number') return undefined
  return getSystemErrorMessage(error.errno)
}
