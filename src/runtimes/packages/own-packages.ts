/**
 * Finds the packages that we depend on. We search where Node searches for a module's packages, in the folder `node_modules`
 * of each folder above; but not in `$HOME/.node_modules` and `NODE_PATH`, which `require` would search too.
 *
 * If a package is missing next to Lazaret, the search reaches folders of other users. So a package counts only if
 * everyone who could have put it there can change Lazaret anyway. We follow the path once, check the owner and mode of
 * everything on the way, and use the resulting real path from then on.
 */
import { realpathSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

import { followPath } from './own-path.ts'
import type { Intruder, Trust } from './own-path.ts'

/** The root of Lazaret's package, also in a checkout. */
export const ownFolder = realpathSync(join(import.meta.dirname, '..', '..', '..'))
const groupMayWrite = 0o020
const othersMayWrite = 0o002

export interface FoundPackage {
  /** The real path of the file that was asked for; undefined if none counts. */
  readonly path: string | undefined
  /** Why the first one that was there is not used. */
  readonly passedOver: Intruder | undefined
}

/** A file or folder of a package, which the module in the folder `from` depends on. */
export function findInPackage(name: string, file: string, from: string = ownFolder): FoundPackage {
  const trust = trustOurOwn()
  let passedOver: Intruder | undefined
  for (let folder = from; ; folder = dirname(folder)) {
    const place = join(folder, 'node_modules', name)
    const end = basename(folder) === 'node_modules' ? undefined : follow(place, file, trust)
    if (typeof end === 'string') return { path: end, passedOver }
    passedOver ??= end
    if (folder === dirname(folder)) return { path: undefined, passedOver }
  }
}

function follow(place: string, file: string, trust: Trust): string | Intruder | undefined {
  try {
    const folder = followPath(place, trust)
    if (typeof folder !== 'string') return folder
    const manifest = followPath(join(folder, 'package.json'), trust)
    return typeof manifest === 'string' ? followPath(join(folder, file), trust) : manifest
  } catch {
    // There is no such folder, or this user cannot reach it.
    return undefined
  }
}

/** Users who can change Lazaret itself do not need a planted package. */
function trustOurOwn(): Trust {
  const { uid, gid, mode } = statSync(ownFolder)
  return {
    owners: [uid],
    groups: (mode & groupMayWrite) === 0 ? [] : [gid],
    everybody: (mode & othersMayWrite) !== 0,
    isExempt: (folder) => folder === '/' || folder === ownFolder || ownFolder.startsWith(`${folder}/`),
  }
}
