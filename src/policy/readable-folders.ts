/** Host folders that guests may read, as options and sandboxes name them. */
import { existsSync, statSync } from 'node:fs'

import { z } from 'zod'

import { planEtcFiles, planSystemLinks } from '../jail/view/etc-files.ts'
import { absolutePath } from './schemas.ts'

/** Folders of the guest or of the host's system: nothing else may be mounted there. */
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
  '/run',
  '/sys',
  '/var/tmp',
  '/var/run',
  '/var/lock',
  '/var/lib/dpkg',
  '/home/guest',
  '/opt/guest',
  '/opt/lazaret',
]

/** Every guest has these files, with Lazaret's contents. */
const ownFiles = [...Object.keys(planEtcFiles('')), ...Object.keys(planSystemLinks({ isSandbox: true }))]

const guestPath = absolutePath
  .refine(
    (path) => path !== '/' && !takenPaths.some((taken) => path === taken || path.startsWith(`${taken}/`)),
    { error: `must not be inside ${takenPaths.join(', ')}` },
  )
  .refine((path) => path !== '/etc' && !ownFiles.some((own) => path === own || path.startsWith(`${own}/`)), {
    error: 'must not be /etc itself, or a file that every guest has there',
  })

export const isFolder = (path: string): boolean =>
  statSync(path, { throwIfNoEntry: false })?.isDirectory() === true

/** A path alone is the usual mistake. */
const explainFolder: z.core.$ZodErrorMap = ({ code }) =>
  code === 'invalid_type' ? 'must be { host, guest }: the folder, and its path in the guest' : undefined

/** `path` checks a path of the host; in a configuration file it may be relative. */
export function readableFolders(path: z.ZodType<string, string>) {
  return namedFolders(path.refine((found) => existsSync(found), { error: 'does not exist' }))
}

/** The same without inspecting the host, for callers who may not learn what exists there. */
export function namedFolders(host: z.ZodType<string, string>) {
  return z.array(z.strictObject({ host, guest: guestPath }, { error: explainFolder })).max(32)
}
