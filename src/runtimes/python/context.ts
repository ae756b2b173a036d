/** The program of a code context in Python: the same interpreter as for runs, which also finds packages that commands install. */
import { guestBind } from '../packages/package-files.ts'
import { pythonPaths } from '../packages/guest-packages.ts'
import type { PackageFolders } from '../packages/guest-packages.ts'
import { ownView } from '../../jail/plan/place.ts'
import type { Toolchains } from '../packages/toolchains.ts'
import { pythonDataBytes, requirePython } from './host.ts'

/**
 * Makes glibc's malloc request huge pages for large blocks: then a fork copies one page table entry for 2 MiB instead of 512.
 * Other C libraries ignore it.
 */
const hugePages = 'glibc.malloc.hugetlb=1'

/** Throws RUNTIME_UNAVAILABLE if there is no Python. */
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
