/** The files of a sandbox: how operations on them begin, and those that it has from the start. */
import type { HostAccount } from '../../core/host-account.ts'
import type { Governed } from '../governed.ts'
import { SandboxFiles } from '../files/sandbox-files.ts'
import { startFileTask } from '../files/start-file-task.ts'
import type { Spaces, SpacesParts } from '../spaces.ts'
import type { Unfinished } from './unfinished.ts'

export interface FilesParts {
  readonly spaces: Spaces
  readonly governed: Governed
  readonly unfinished: Unfinished
  readonly account: HostAccount
  readonly client: string | undefined
}

export function openFiles({ spaces, governed, unfinished, account, client }: FilesParts): SandboxFiles {
  return new SandboxFiles({
    begin: (operation, path) => {
      unfinished.requireAlive()
      return governed.beginFiles(operation, path)
    },
    start: (task, args) => {
      unfinished.requireAlive()
      const process = startFileTask(spaces, { task, args })
      void unfinished.during(() => process.exit).catch(() => undefined)
      return process
    },
    reserve: () => account.reserve({ client, kind: 'answers' }),
  })
}

export interface PlacedFiles extends SpacesParts {
  /** The files, by their path in the workspace. */
  readonly files: Readonly<Record<string, Uint8Array>>
}

/** In an existing folder, files with the same names are overwritten, as commands would do. */
export async function placeFiles(
  { files, shape }: PlacedFiles,
  { workspace, user, hasSecure }: Spaces,
  sandboxFiles: SandboxFiles,
): Promise<void> {
  const all = Object.entries(files).map(([path, bytes]) => [`${workspace}/${path}`, bytes] as const)
  if (shape.workspace !== undefined) {
    for (const [path, bytes] of all) await sandboxFiles.writeFile(path, bytes, { createParents: true })
    return
  }
  for (const [path, bytes] of all) user.cell.put(path, bytes)
  // Other spaces share the workspace, so the files have to be complete. There is no guest to kill yet: this only waits
  // until the cell has handled everything before it.
  if (all.length > 0 && hasSecure) await user.cell.killGuests()
}
