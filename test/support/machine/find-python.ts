/** An interpreter with the modules that a test needs: the given one, the guests' one, or the system's. */
import { execFileSync } from 'node:child_process'

import { Toolchains } from '../../../src/runtimes/packages/toolchains.ts'
import type { PythonToolchain } from '../../../src/runtimes/packages/python-question.ts'

const configured = process.env['LAZARET_TEST_PYTHON']

/** `LAZARET_TEST_PYTHON` replaces the interpreters that are found. */
function listPythons(): readonly PythonToolchain[] {
  const names = configured === undefined ? [undefined, '/usr/bin/python3'] : [configured]
  return names
    .map((python) => new Toolchains(python === undefined ? {} : { python }).python())
    .filter((python) => python !== null)
}

export interface Identity {
  readonly uid?: number
  readonly gid?: number
}

/** The first that can import all of the modules, as `identity` if it is given; null if none can. */
export function findPythonWith(modules: readonly string[], identity: Identity = {}): PythonToolchain | null {
  return listPythons().find(({ path }) => canImport(path, { modules, identity })) ?? null
}

function canImport(
  path: string,
  { modules, identity }: { readonly modules: readonly string[]; readonly identity: Identity },
): boolean {
  try {
    execFileSync(path, ['-I', '-c', `import ${modules.join(', ')}`], {
      cwd: '/',
      stdio: 'ignore',
      ...identity,
    })
    return true
  } catch {
    return false
  }
}
