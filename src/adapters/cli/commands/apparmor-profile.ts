/** The AppArmor profile of the package with the launcher's real path in it: `lazaret doctor --apparmor`. */
import { readFileSync, realpathSync } from 'node:fs'

import { launcherPath } from '../../../jail/launch/launcher-path.ts'
import { UsageError } from '../options/usage-error.ts'

const template = new URL('../../../../profiles/apparmor/lazaret-cell', import.meta.url)
const placeholder = '/path/to/node_modules/lazaret/native/bin/cell-linux-x64'

/** AppArmor compares with the path behind all links, as package managers make them. */
export function appArmorProfile(path = realpathSync(launcherPath())): string {
  // Quotes allow blanks; what is left are the signs of patterns, of escapes and of variables.
  if (/["\\?*[\]{}^@\n]/.test(path)) {
    throw new UsageError(
      `The launcher's path has characters that are special in AppArmor: ${path}.`,
      'Install the package in a folder without them.',
    )
  }
  return readFileSync(template, 'utf8').replace(placeholder, () => path)
}
