import { stat } from 'node:fs/promises'
import { describeSystemError } from '../output/system-error.ts'
import { UsageError } from '../options/usage-error.ts'

/** Requires that only the owner can access a file with a server's credentials. */
export async function requirePrivate(path: string): Promise<void> {
  const { mode } = await stat(path).catch((error: unknown) => {
    const reason = describeSystemError(error)
    throw reason === undefined ? error : new UsageError(`cannot read ${path}: ${reason}.`, 'Check the path.')
  })
  if ((mode & 0o077) === 0) return
  throw new UsageError(`${path} can be read or written by others.`, `Keep it yours: chmod 600 ${path}`)
}
