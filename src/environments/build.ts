/** The story of a build: packages are installed in sandboxes, copied out, checked and hashed. */
import { join } from 'node:path'

import { BuildSandboxes } from './build-sandboxes.ts'
import type { Building } from './build-sandboxes.ts'
import { requireHashes } from './npm-lock.ts'
import { installNpm } from './npm-packages.ts'
import { installPython } from './python-packages.ts'
import type { Manifest } from './records.ts'
import { sealFolder } from './seal.ts'
import { environmentIn } from './store.ts'

/**
 * Fills the folder of the environment in `staged`. Throws ENVIRONMENT_FAILED, INVALID_REQUEST, and what opening a sandbox
 * throws.
 */
export async function build(building: Building): Promise<Manifest> {
  const { spec, staged, ground } = building
  if (spec.lock?.npm !== undefined) requireHashes(spec.lock.npm.lockFile)
  const folder = environmentIn(staged)
  const sandboxes = await BuildSandboxes.plan(building)
  const python = await installPython(sandboxes, spec, { staged, to: join(folder, 'python') })
  const npm = await installNpm(sandboxes, spec, { staged, to: join(folder, 'node_modules') })
  return {
    pythonVersion: python === undefined ? null : ground.pythonVersion(),
    python: python?.packages ?? [],
    npm: npm?.packages ?? [],
    lock: {
      ...(python === undefined ? {} : { python: python.lock }),
      ...(npm === undefined ? {} : { npm: npm.lock }),
    },
    ...(await sealFolder(folder)),
  }
}
