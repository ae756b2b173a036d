/** The AppArmor profile of the package with the launcher's real path in it: `lazaret doctor --apparmor`. */
import { readFileSync, realpathSync } from 'node:fs'

import { launcherPath } from '../../../jail/launch/launcher-path.ts'
import { UsageError } from '../options/usage-error.ts'

const template = new URL('../../../../profiles/apparmor/lazaret-cell', import.meta.url)
const placeholder = '/path/to/node_modules/lazaret/native/bin/cell-linux-x64'

/** AppArmor compares real paths, and package managers install packages behind links. */
export function appArmorProfile(path = realpathSync(launcherPath())): string {
  // Within quotes, only the characters of patterns, escapes and variables are a problem.
  if (/["\\?*[\]{}^@\n]/.test(path)) {
    throw new UsageError(
      `The launcher's path has characters that are special in AppArmor: ${path}.`,
      'Install the package in a folder without them.',
    )
  }
  return readFileSync(template, 'utf8').replace(placeholder, () => path)
}
