/** Host folders that guests may read, as options and sandboxes name them. */
import { existsSync } from 'node:fs'

import { z } from 'zod'

import { absolutePath } from './schemas.ts'

/** Where a guest's own folders are, or the host's: nothing else may be mounted there. */
const takenPaths = [
  '/workspace',
  '/tmp',
  '/usr',
  '/bin',
  '/sbin',
  '/lib',
  '/lib64',
  '/proc',
  '/dev',
  '/etc',
  '/run',
  '/sys',
  '/opt/lazaret',
]

const guestPath = absolutePath.refine(
  (path) => path !== '/' && !takenPaths.some((taken) => path === taken || path.startsWith(`${taken}/`)),
  { error: `must not lie inside ${takenPaths.join(', ')}` },
)

/** `path` reads a path of the host: in a file it may be relative. */
export function readableFolders(path: z.ZodType<string, string>) {
  return namedFolders(path.refine((found) => existsSync(found), { error: 'does not exist' }))
}

/** The same, with no look at the host: for a caller who may not know what is there. */
export function namedFolders(host: z.ZodType<string, string>) {
  return z.array(z.strictObject({ host, guest: guestPath })).max(32)
}
