/** Where the launcher is, and why it cannot be started. */
import { accessSync, constants, existsSync, realpathSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

import { LazaretError } from '../../core/errors/errors.ts'
import { unbundle } from '../../core/errors/unbundle.ts'
import { mountOf } from '../machine/mount-of.ts'

/** The launcher that was built for this machine, or where it should be. The same from src/ and from dist/. */
export function launcherPath(): string {
  return fileURLToPath(new URL(`../../../native/bin/cell-linux-${process.arch}`, import.meta.url))
}

/** Throws JAIL_UNAVAILABLE with the fix when it cannot be executed. */
export function requireLauncher(): string {
  const path = launcherPath()
  try {
    accessSync(path, constants.X_OK)
    return path
  } catch (cause) {
    throw new LazaretError('JAIL_UNAVAILABLE', { ...explain(path), cause })
  }
}

function explain(path: string): { detail: string; hint: string } {
  const mode = statSync(path, { throwIfNoEntry: false })?.mode
  if (mode === undefined)
    return {
      detail: `There is no launcher for ${process.platform}-${process.arch}.`,
      hint: existsSync(fileURLToPath(new URL('../../../native/cell', import.meta.url)))
        ? 'Install a C compiler (`apt-get install gcc libc6-dev`) and run `npm run build:native`.'
        : `${unbundle} Otherwise install the package again: its folder native/bin has launchers for x64 and arm64.`,
    }
  if ((mode & 0o111) === 0)
    return {
      detail: `The launcher, ${path}, is not marked as a program.`,
      hint: `Whatever copied the package lost its modes: \`chmod 755 '${path}'\`.`,
    }
  const point = findMountWithoutExecution(realpathSync(path))
  if (point !== undefined)
    return {
      detail: `The launcher is on ${point}, which is mounted noexec.`,
      hint: `Install the package elsewhere, or allow programs there: \`sudo mount -o remount,exec '${point}'\` (and in /etc/fstab).`,
    }
  return {
    detail: `This user may not execute the launcher, ${path}.`,
    hint: 'Give this user the right to enter its folders and to read and execute it.',
  }
}

function findMountWithoutExecution(path: string): string | undefined {
  const mount = mountOf(path)
  return mount?.options.includes('noexec') === true ? mount.point : undefined
}
