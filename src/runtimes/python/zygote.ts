/** Plans the program of a zygote of Python: the interpreter with imported modules and the harness guest_zygote.py. */
import { dirname } from 'node:path'

import { LazaretError } from '../../core/errors/errors.ts'
import { ownView } from '../../jail/plan/place.ts'
import type { Bind } from '../../jail/plan/shape.ts'
import type { ZygoteProgram } from '../../jail/cell/zygote-cell.ts'
import { packageCommands, pythonPaths } from '../packages/guest-packages.ts'
import type { PackageFolders } from '../packages/guest-packages.ts'
import { guestBind } from '../packages/package-files.ts'
import { guestEnvironment } from '../runtime.ts'
import type { PythonToolchain } from '../packages/python-question.ts'
import { findZygoteLibrary } from '../packages/zygote-libraries.ts'

const guestLibrary = '/opt/lazaret/zygote.so'
const moduleName = /^[\p{ID_Start}_][\p{ID_Continue}]*(\.[\p{ID_Start}_][\p{ID_Continue}]*)*$/u
const modulesMax = 64
const nameCharactersMax = 200

/**
 * When libraries for linear algebra are loaded, they start a thread for each processor. A fork lacks these threads, so code
 * that waits for them would hang. Each library reads its own variable.
 */
const oneThread = Object.fromEntries(
  ['OPENBLAS', 'OMP', 'MKL', 'BLIS', 'NUMEXPR', 'VECLIB_MAXIMUM'].map((name) => [`${name}_NUM_THREADS`, '1']),
)

export interface PythonWishes {
  readonly preload: readonly string[]
  /** Folders that the zygote's cell shows, including those of `packages`. */
  readonly readable: readonly Bind[]
  readonly packages?: PackageFolders
}

/** Throws INVALID_REQUEST for an invalid module name, RUNTIME_UNAVAILABLE if the package lacks the library. */
export function planPythonZygote(
  python: PythonToolchain,
  { preload, readable, packages = {} }: PythonWishes,
): ZygoteProgram {
  requireModules(preload)
  const build = guestBind()
  const argv = [
    python.path,
    '-I',
    '-X',
    'utf8',
    `${build.guest}/runtimes/python/guest_zygote.py`,
    guestLibrary,
    pythonPaths(packages, ownView).join(':'),
    ...preload,
  ]
  const folders = [dirname(python.path), ...packageCommands(packages, ownView)]
  const environment = guestEnvironment({ code: '', language: 'python' }, ownView, folders)
  const binds = [
    build,
    { host: findZygoteLibrary('zygote'), guest: guestLibrary },
    ...python.folders.map((folder) => ({ host: folder, guest: folder })),
    ...readable,
  ]
  return { argv, env: { ...environment, ...oneThread }, binds }
}

function requireModules(preload: readonly string[]): void {
  if (preload.length > modulesMax)
    throw new LazaretError('INVALID_REQUEST', { detail: `preload: more than ${modulesMax} modules.` })
  for (const name of preload) {
    if (name.length <= nameCharactersMax && moduleName.test(name)) continue
    throw new LazaretError('INVALID_REQUEST', {
      detail: `preload: ${JSON.stringify(name.slice(0, nameCharactersMax))} is not the name of a module.`,
    })
  }
}
