/** What a zygote of Python is: the interpreter with modules imported, on the harness in guest_zygote.py. */
import { existsSync, realpathSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'

import { LazaretError } from '../../core/errors.ts'
import { ownView } from '../../jail/place.ts'
import type { Bind } from '../../jail/shape.ts'
import type { ZygoteProgram } from '../../jail/zygote-cell.ts'
import { guestBind } from '../package-files.ts'
import { guestEnvironment } from '../runtime.ts'
import type { PythonToolchain } from '../python-question.ts'

const guestLibrary = '/opt/lazaret/zygote.so'
const moduleName = /^[\p{ID_Start}_][\p{ID_Continue}]*(\.[\p{ID_Start}_][\p{ID_Continue}]*)*$/u
const modulesMax = 64
const nameCharactersMax = 200

/**
 * Libraries for linear algebra start a thread a processor when they are loaded, and a fork has none of these: what waits
 * for them would wait for ever. Each reads its own name.
 */
const oneThread = Object.fromEntries(
  ['OPENBLAS', 'OMP', 'MKL', 'BLIS', 'NUMEXPR', 'VECLIB_MAXIMUM'].map((name) => [`${name}_NUM_THREADS`, '1']),
)

/** Throws INVALID_REQUEST for what cannot be a module, RUNTIME_UNAVAILABLE where the package lacks its library. */
export function planPythonZygote(
  python: PythonToolchain,
  { preload, readable }: { readonly preload: readonly string[]; readonly readable: readonly Bind[] },
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
    ...preload,
  ]
  const environment = guestEnvironment({ code: '', language: 'python' }, ownView, [dirname(python.path)])
  const binds = [
    build,
    { host: findLibrary(), guest: guestLibrary },
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

function findLibrary(): string {
  const path = fileURLToPath(new URL(`../../../native/bin/zygote-linux-${process.arch}.so`, import.meta.url))
  if (existsSync(path)) return realpathSync(path)
  throw new LazaretError('RUNTIME_UNAVAILABLE', {
    detail: `There is no zygote library for ${process.platform}-${process.arch}.`,
    hint: 'In a checkout, install a C compiler and run `npm run build:native`. Elsewhere Python starts anew for each run.',
  })
}
