import { stat } from 'node:fs/promises'
import { exposureOf } from '../../../core/private-file.ts'
import { describeSystemError } from '../output/system-error.ts'
import { UsageError } from '../options/usage-error.ts'

/** Requires that no other user can read or change a file with a server's credentials. */
export async function requirePrivate(path: string): Promise<void> {
  const facts = await stat(path).catch((error: unknown) => {
    const reason = describeSystemError(error)
    throw reason === undefined ? error : new UsageError(`cannot read ${path}: ${reason}.`, 'Check the path.')
  })
  const exposure = exposureOf(facts)
  if (exposure === undefined) return
  throw new UsageError(`${path} ${exposure.reason}.`, `${exposure.remedy}: ${path}`)
}
