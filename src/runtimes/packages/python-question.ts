/** Asks a Python interpreter for its real path, so that a shim (pyenv, asdf) is never used in a cell. */
import { existsSync, realpathSync } from 'node:fs'
import { dirname, isAbsolute } from 'node:path'

import { LazaretError } from '../../core/errors/errors.ts'
import { askInterpreter, askInterpreterNow } from './ask-interpreter.ts'

export interface PythonToolchain {
  /** The real interpreter, never a shim. In a virtual environment, its link to the interpreter, which finds its packages. */
  readonly path: string
  readonly version: string
  /** Folders outside /usr that it needs, at their own paths. */
  readonly folders: readonly string[]
}

/**
 * Ignores `site` and the environment, because nothing in the package folders, such as a `.pth` file, may run on the host.
 */
const flags = ['-I', '-S']

const question = `
import sys, os, site
# site.venv() finds a virtual environment, but would also run the files of its packages.
site.addsitepackages = lambda known_paths, *prefixes: known_paths
getattr(site, 'venv', id)(set())
import sysconfig
real = os.path.realpath(sys.executable)
# The interpreter of a virtual environment is a link, and finds the environment by the location of the link.
folder, name = os.path.split(sys.executable)
print(real if sys.prefix == sys.base_prefix else os.path.join(os.path.realpath(folder), name))
print('.'.join(map(str, sys.version_info[:3])))
packages = (sysconfig.get_path(name) for name in ('purelib', 'platlib'))
folders = {sys.prefix, sys.base_prefix, sys.base_exec_prefix, os.path.dirname(real), *filter(None, packages)}
for path in sorted(folders):
    print(path)
`

const args = [...flags, '-c', question]

/** Null if it is not a Python 3. Throws CELL_FAILED if it could not be started. Blocks for tens of milliseconds. */
export function askPythonNow(path: string): PythonToolchain | null {
  try {
    return readAnswer(askInterpreterNow(path, args))
  } catch (error) {
    requireStarted(path, error)
    return null
  }
}

/** The same without blocking. */
export async function askPython(path: string): Promise<PythonToolchain | null> {
  try {
    return readAnswer(await askInterpreter(path, args))
  } catch (error) {
    requireStarted(path, error)
    return null
  }
}

/** The kernel's errors for a temporary shortage of descriptors, processes or memory. */
const shortages = ['EMFILE', 'ENFILE', 'EAGAIN', 'ENOMEM']

function requireStarted(path: string, cause: unknown): void {
  const { code = '' } = cause as NodeJS.ErrnoException
  if (!shortages.includes(code)) return
  throw new LazaretError('CELL_FAILED', {
    detail: `${path} could not be started (${code}): this process is out of descriptors, processes or memory.`,
    cause,
  })
}

function readAnswer(answer: string): PythonToolchain | null {
  const [file = '', version = '', ...folders] = answer.trim().split('\n')
  if (!isAbsolute(file)) return null
  const existing = [...folders, dirname(file)].filter(existsSync)
  return { path: file, version, folders: outermost(existing.map((folder) => realpathSync(folder))) }
}

/** Omits folders that every cell shows anyway, and folders inside another folder of the list. */
function outermost(folders: readonly string[]): string[] {
  const inside = (path: string, folder: string) => path === folder || path.startsWith(`${folder}/`)
  const outside = [...new Set(folders)].filter(
    (path) => !['/usr', '/bin', '/lib'].some((folder) => inside(path, folder)),
  )
  return outside.filter((path) => !outside.some((other) => other !== path && inside(path, other)))
}
