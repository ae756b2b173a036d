/** What is started for a code context in Python: the interpreter of runs, which also finds what commands have installed. */
import { guestBind } from '../packages/package-files.ts'
import { pythonPaths } from '../packages/guest-packages.ts'
import type { PackageFolders } from '../packages/guest-packages.ts'
import { ownView } from '../../jail/plan/place.ts'
import type { Toolchains } from '../packages/toolchains.ts'
import { pythonDataBytes, requirePython } from './host.ts'

/**
 * glibc's malloc asks for huge pages for what is large: a fork copies one entry for 2 MiB then, not 512. On other libraries
 * it means nothing.
 */
const hugePages = 'glibc.malloc.hugetlb=1'

/** Throws RUNTIME_UNAVAILABLE if there is none. */
export function planPythonContext(toolchains: Toolchains, packages: PackageFolders) {
  const python = requirePython(toolchains, true)
  const build = guestBind()
  return {
    file: python.path,
    argv: [
      ...[python.path, '-X', 'utf8', `${build.guest}/runtimes/python/guest.py`],
      ...pythonPaths(packages, ownView),
    ],
    env: {},
    defaults: { GLIBC_TUNABLES: hugePages },
    binds: [build, ...python.folders.map((folder) => ({ host: folder, guest: folder }))],
    park: { park: 'python', preload: [], parts: ['context'] },
    dataBytes: pythonDataBytes,
  }
}
