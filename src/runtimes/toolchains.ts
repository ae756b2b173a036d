/** Finds the interpreters that guests run on. Looked for once; a missing one only makes its runtime unavailable. */
import { execFileSync } from 'node:child_process'
import { accessSync, constants, existsSync, realpathSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, isAbsolute, join } from 'node:path'

import { LazaretError } from '../core/errors.ts'

export interface ToolchainPaths {
  readonly node?: string
  readonly bun?: string
  readonly python?: string
}

export interface PythonToolchain {
  /** The real interpreter, never a shim; of a virtual environment its own entry, which makes its packages visible. */
  readonly path: string
  readonly version: string
  /** Folders outside /usr that it needs, at their own paths. */
  readonly folders: readonly string[]
}

const nodeMajorMin = 24
const probeMs = 10_000
const require = createRequire(import.meta.url)

export class Toolchains {
  readonly #configured: ToolchainPaths
  readonly #found = new Map<string, string | null>()
  readonly #pythons = new Map<boolean, PythonToolchain | null>()

  constructor(configured: ToolchainPaths = {}) {
    this.#configured = configured
  }

  /** Configured, else the packaged one, else `bun` on PATH. */
  bun(): string | null {
    const packaged = process.arch === 'arm64' ? '@oven/bun-linux-aarch64' : '@oven/bun-linux-x64'
    return this.#find(
      'bun',
      () => this.#configured.bun ?? fromPackage(packaged, 'bin/bun') ?? fromPath('bun'),
    )
  }

  /** Configured, else the host's own when it is new enough, else the packaged one. */
  node(): string | null {
    const own =
      Number(process.versions.node.split('.')[0]) >= nodeMajorMin && process.versions['bun'] === undefined
        ? process.execPath
        : null
    return this.#find(
      'node',
      () => this.#configured.node ?? own ?? fromPackage(`node-linux-${process.arch}`, 'bin/node'),
    )
  }

  shell(): string | null {
    return this.#find('shell', () =>
      existsSync('/usr/bin/bash') ? '/usr/bin/bash' : existsSync('/bin/sh') ? '/bin/sh' : null,
    )
  }

  /**
   * Configured, else the interpreter behind `python3`. One that was configured and is not there has no stand-in.
   * `forEverybody` asks for one that every user of the machine can come to: guests without a view of files of their own
   * have to, and root's own toolchains often lie in its home.
   */
  python({ forEverybody = false } = {}): PythonToolchain | null {
    const known = this.#pythons.get(forEverybody)
    if (known !== undefined) return known
    const { python } = this.#configured
    const candidates = python === undefined ? [fromPath('python3'), '/usr/bin/python3'] : [python]
    let found: PythonToolchain | null = null
    for (const path of candidates) {
      const answer = askPython(path)
      if (answer !== null && forEverybody && !answer.folders.every(isOpenToAll)) continue
      if (answer !== null) {
        found = answer
        break
      }
    }
    this.#pythons.set(forEverybody, found)
    return found
  }

  /** The refusal of a runtime that cannot be had: what is wrong with the path that was configured, else `otherwise`. */
  refuse(
    name: keyof ToolchainPaths,
    otherwise: { readonly detail: string; readonly hint: string },
  ): LazaretError {
    const detail = this.explain(name)
    return new LazaretError(
      'RUNTIME_UNAVAILABLE',
      detail === undefined
        ? otherwise
        : {
            detail: `${detail}.`,
            hint: `Name another one in \`toolchains.${name}\`, or leave that out to have one looked for.`,
          },
    )
  }

  /** Why the interpreter that was configured is none; undefined when none was. */
  explain(name: keyof ToolchainPaths): string | undefined {
    const path = this.#configured[name]
    if (path === undefined) return undefined
    const reason = !existsSync(path)
      ? 'there is no such file'
      : isExecutable(path)
        ? 'it does not answer as a Python 3 does'
        : 'it is not a file that this user may execute'
    return `\`toolchains.${name}\`, ${path}, is not a usable interpreter: ${reason}`
  }

  #find(name: string, look: () => string | null): string | null {
    const known = this.#found.get(name)
    if (known !== undefined) return known
    const path = look()
    const found = path !== null && isExecutable(path) ? realpathSync(path) : null
    this.#found.set(name, found)
    return found
  }
}

function fromPackage(name: string, file: string): string | null {
  try {
    return join(dirname(require.resolve(`${name}/package.json`)), file)
  } catch {
    return null
  }
}

function fromPath(name: string): string | null {
  const folders = (process.env['PATH'] ?? '').split(':').filter(isAbsolute)
  return folders.map((folder) => join(folder, name)).find(isExecutable) ?? null
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}

/** Whether users other than its owner can come to a path, as far as modes tell. */
function isOpenToAll(path: string): boolean {
  const others = 0o001
  return path === '/' || ((statSync(path).mode & others) !== 0 && isOpenToAll(dirname(path)))
}

const pythonQuestion = `
import sys, sysconfig, os
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

/** Asks the interpreter where it really lives, so that a shim (pyenv, asdf) never gets into a cell. */
function askPython(path: string | null | undefined): PythonToolchain | null {
  if (path === null || path === undefined || !isExecutable(path)) return null
  try {
    const answer = execFileSync(path, ['-I', '-c', pythonQuestion], {
      encoding: 'utf8',
      timeout: probeMs,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    const [file = '', version = '', ...folders] = answer.trim().split('\n')
    if (!isAbsolute(file)) return null
    return {
      path: file,
      version,
      folders: outermost(
        [...folders, dirname(file)].filter(existsSync).map((folder) => realpathSync(folder)),
      ),
    }
  } catch {
    return null
  }
}

/** Drops what every cell shows anyway and what lies inside another folder of the list. */
function outermost(folders: readonly string[]): string[] {
  const inside = (path: string, folder: string) => path === folder || path.startsWith(`${folder}/`)
  const outside = [...new Set(folders)].filter(
    (path) => !['/usr', '/bin', '/lib'].some((folder) => inside(path, folder)),
  )
  return outside.filter((path) => !outside.some((other) => other !== path && inside(path, other)))
}
