import { accessSync, constants } from 'node:fs'
import { fileURLToPath } from 'node:url'

import { LazaretError } from '../core/errors.ts'

/** The launcher that was built for this machine, or where it should be. The same from src/ and from dist/. */
export function launcherPath(): string {
  return fileURLToPath(new URL(`../../native/bin/cell-linux-${process.arch}`, import.meta.url))
}

/** Throws JAIL_UNAVAILABLE with the fix when it cannot be executed. */
export function requireLauncher(): string {
  const path = launcherPath()
  try {
    accessSync(path, constants.X_OK)
    return path
  } catch (cause) {
    throw new LazaretError('JAIL_UNAVAILABLE', {
      detail: `There is no launcher for ${process.platform}-${process.arch}.`,
      hint: 'In a checkout, install a C compiler (`apt-get install gcc libc6-dev`) and run `npm run build:native`.',
      cause,
    })
  }
}
