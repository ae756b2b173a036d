/**
 * Finds the packages on which Lazaret depends. The search covers the `node_modules` of each folder above, as in Node, but not
 * `$HOME/.node_modules` and `NODE_PATH`, which `require` would also search.
 *
 * If a package is missing next to Lazaret, the search reaches folders of other users. So a package is used only if everyone
 * who could have put it there can change Lazaret anyway. The path is followed once, with a check of the owner and mode of
 * everything on the way, and the resulting real path is used from then on.
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
  /** The real path of the requested file; undefined if there is none that may be used. */
  readonly path: string | undefined
  /** Why the first candidate that exists is not used. */
  readonly passedOver: Intruder | undefined
}

/** Finds a file or folder of a package on which the module in the folder `from` depends. */
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
