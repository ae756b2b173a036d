/** Asks a Python where it really lives, so that a shim (pyenv, asdf) never gets into a cell. */
import { existsSync, realpathSync } from 'node:fs'
import { dirname, isAbsolute } from 'node:path'

import { askInterpreter, askInterpreterNow } from './ask-interpreter.ts'

export interface PythonToolchain {
  /** The real interpreter, never a shim; of a virtual environment its own entry, which makes its packages visible. */
  readonly path: string
  readonly version: string
  /** Folders outside /usr that it needs, at their own paths. */
  readonly folders: readonly string[]
}

/**
 * Neither `site` nor the environment, because nothing in its package folders, such as a `.pth` file, may run on the
 * host.
 */
const flags = ['-I', '-S']

const question = `
import sys, os, site
# What finds a virtual environment is in there, and would read its packages' files too.
site.addsitepackages = lambda known_paths, *prefixes: known_paths
getattr(site, 'venv', id)(set())
import sysconfig
real = os.path.realpath(sys.executable)
# An environment's interpreter is a link, and finds the environment by the place of the link.
folder, name = os.path.split(sys.executable)
print(real if sys.prefix == sys.base_prefix else os.path.join(os.path.realpath(folder), name))
print('.'.join(map(str, sys.version_info[:3])))
packages = (sysconfig.get_path(name) for name in ('purelib', 'platlib'))
folders = {sys.prefix, sys.base_prefix, sys.base_exec_prefix, os.path.dirname(real), *filter(None, packages)}
for path in sorted(folders):
    print(path)
`

const args = [...flags, '-c', question]

/** Null if it is not a Python 3. Blocks for tens of milliseconds. */
export function askPythonNow(path: string): PythonToolchain | null {
  try {
    return readAnswer(askInterpreterNow(path, args))
  } catch {
    return null
  }
}

/** The same without blocking. */
export async function askPython(path: string): Promise<PythonToolchain | null> {
  try {
    return readAnswer(await askInterpreter(path, args))
  } catch {
    return null
  }
}

function readAnswer(answer: string): PythonToolchain | null {
  const [file = '', version = '', ...folders] = answer.trim().split('\n')
  if (!isAbsolute(file)) return null
  const existing = [...folders, dirname(file)].filter(existsSync)
  return { path: file, version, folders: outermost(existing.map((folder) => realpathSync(folder))) }
}

/** Drops what every cell shows anyway and what lies inside another folder of the list. */
function outermost(folders: readonly string[]): string[] {
  const inside = (path: string, folder: string) => path === folder || path.startsWith(`${folder}/`)
  const outside = [...new Set(folders)].filter(
    (path) => !['/usr', '/bin', '/lib'].some((folder) => inside(path, folder)),
  )
  return outside.filter((path) => !outside.some((other) => other !== path && inside(path, other)))
}
