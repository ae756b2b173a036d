/**
 * Finds the interpreters for guests. It searches once; a missing interpreter only makes its runtime unavailable.
 * Interpreters are asked for their version outside of any cell. So an interpreter that is not configured is used only if
 * nobody except root and this user could have put it there.
 */
import { accessSync, constants, existsSync, realpathSync, statSync } from 'node:fs'
import { dirname, isAbsolute, join } from 'node:path'

import { LazaretError } from '../../core/errors/errors.ts'
import type { FoundBy, Interpreter } from '../../core/receipt.ts'
import type { CellRuntimeName, ToolchainName } from '../../core/request.ts'
import { findInPackage } from './own-packages.ts'
import { findIntruder } from './own-path.ts'
import { askPython, askPythonNow } from './python-question.ts'
import type { PythonToolchain } from './python-question.ts'

export type ToolchainPaths = { readonly [Name in ToolchainName]?: string }

/** PATH is not searched: guests are shown only the system's own folders. Alpine has /bin/bash, the BSDs' way is /usr/local. */
const shells = ['/usr/bin/bash', '/bin/bash', '/usr/local/bin/bash', '/bin/sh']

export interface ChosenPython extends PythonToolchain {
  readonly because: FoundBy
}

interface View {
  /** Whether guests have their own file view. */
  readonly isOwnView: boolean
}

export class Toolchains {
  readonly #configured: ToolchainPaths
  readonly #found = new Map<string, string | null>()
  readonly #pythons = new Map<boolean, ChosenPython | null>()
  /** The answers of interpreters, by path; null for one that did not answer. */
  readonly #answers = new Map<string, PythonToolchain | null>()
  readonly #because = new Map<string, FoundBy>()
  /** Why a program that was found is not used, by its name. */
  readonly #passedOver = new Map<string, string>()

  constructor(configured: ToolchainPaths = {}) {
    this.#configured = configured
  }

  /** The configured Bun, else the packaged one, else `bun` on PATH. */
  bun(): string | null {
    const packaged = process.arch === 'arm64' ? '@oven/bun-linux-aarch64' : '@oven/bun-linux-x64'
    return this.find('bun', () => this.fromPackage('bun', packaged) ?? this.fromPath('bun'))
  }

  /** The configured Node, else the one that runs Lazaret. */
  node(): string | null {
    return this.find('node', () => this.#note('node', 'own', process.execPath))
  }

  shell(): string | null {
    return this.find('shell', () => {
      const shell = shells.find((path) => existsSync(path)) ?? null
      return this.#note('shell', 'system', shell)
    })
  }

  /**
   * The configured interpreter, else the one behind `python3`. A configured interpreter that is missing is not
   * replaced. `forEverybody` requires one that every user of the machine can reach: guests without their own file view
   * need that, and root's own toolchains are often in its home.
   */
  python({ forEverybody = false } = {}): ChosenPython | null {
    const known = this.#pythons.get(forEverybody)
    if (known !== undefined) return known
    const found = this.#choosePython(forEverybody, (path) => {
      const answer = this.#answers.get(path)
      return answer === undefined ? askPythonNow(path) : answer
    })
    this.#pythons.set(forEverybody, found)
    return found
  }

  /** Whether `python()` answers without asking an interpreter, which blocks for tens of milliseconds. */
  get knowsPython(): boolean {
    return this.#pythons.size > 0
  }

  /** Asks the interpreters ahead, without blocking. Throws CELL_FAILED. */
  async lookForPython(): Promise<void> {
    if (this.knowsPython) return
    for (const [, path] of this.#pythonCandidates()) {
      if (path === null || this.#answers.has(path) || !isExecutable(path)) continue
      const answer = await askPython(path)
      this.#answers.set(path, answer)
      if (answer !== null) return
    }
  }

  #pythonCandidates(): readonly (readonly [FoundBy, string | null])[] {
    const { python } = this.#configured
    if (python !== undefined) return [['configured', python]]
    return [
      ['path', this.fromPath('python3')],
      ['system', '/usr/bin/python3'],
    ]
  }

  #choosePython(forEverybody: boolean, ask: (path: string) => PythonToolchain | null): ChosenPython | null {
    for (const [because, path] of this.#pythonCandidates()) {
      const answer = path === null || !isExecutable(path) ? null : ask(path)
      if (answer === null || (forEverybody && !answer.folders.every(isOpenToAll))) continue
      return { ...answer, because }
    }
    return null
  }

  /** The Python for guests with or without their own file view. Without one, they cannot read root's own folders. */
  pythonOf({ isOwnView }: View): ChosenPython | null {
    return this.python({ forEverybody: !isOwnView && process.geteuid?.() === 0 })
  }

  /** Which interpreter a runtime has, and why; undefined if it has none, or was not queried yet. */
  describe(name: CellRuntimeName, view: View): Interpreter | undefined {
    const path = this.#found.get(name) ?? undefined
    if (name !== 'python')
      return path === undefined ? undefined : { path, because: this.#because.get(name) ?? 'path' }
    const python = this.pythonOf(view)
    if (python === null) return undefined
    const { because, version } = python
    return { path: python.path, version, because }
  }

  /** The error for an unavailable runtime: it explains why a found interpreter is not used, if any; else `otherwise`. */
  refuse(name: ToolchainName, otherwise: { readonly detail: string; readonly hint: string }): LazaretError {
    const detail = this.explain(name)
    if (detail === undefined) return new LazaretError('RUNTIME_UNAVAILABLE', otherwise)
    const hint =
      this.#configured[name] === undefined
        ? `To use it anyway, name it in \`toolchains.${name}\`, or remove the write permission of other users.`
        : `Name another interpreter in \`toolchains.${name}\`, or omit that, so that Lazaret searches for one.`
    return new LazaretError('RUNTIME_UNAVAILABLE', { detail: `${detail}.`, hint })
  }

  /** Why the configured interpreter, or one that was found, is not used. Undefined if there is no reason. */
  explain(name: CellRuntimeName): string | undefined {
    const path = this.#configuredFor(name)
    if (path === undefined) return this.#passedOver.get(name === 'python' ? 'python3' : name)
    const reason = !existsSync(path)
      ? 'there is no such file'
      : isExecutable(path)
        ? 'it does not answer as a Python 3 does'
        : 'it is not a file that this user may execute'
    return `\`toolchains.${name}\`, ${path}, is not a usable interpreter: ${reason}`
  }

  /**
   * The real path of a program in a package. The path that is used is the path whose owners were checked.
   */
  fromPackage(name: string, packaged: string): string | null {
    const { path, passedOver } = findInPackage(packaged, `bin/${name}`)
    if (path === undefined && passedOver !== undefined)
      this.#passedOver.set(name, `The package ${packaged} is not used: ${passedOver.reason}`)
    return this.#note(name, 'packaged', path ?? null)
  }

  /** The program on PATH, if only root or this user could have put it there. */
  fromPath(name: string): string | null {
    const folders = (process.env['PATH'] ?? '').split(':').filter(isAbsolute)
    for (const path of folders.map((folder) => join(folder, name)).filter(isExecutable)) {
      const intruder = findIntruder(path)
      if (intruder === undefined) return path
      this.#passedOver.set(name, `${path} on PATH is not used: ${intruder.reason}`)
    }
    return null
  }

  /** The interpreter of a runtime: the configured one, else the one that `look` finds. The result is cached. */
  find(name: CellRuntimeName, look: () => string | null): string | null {
    const known = this.#found.get(name)
    if (known !== undefined) return known
    const path = this.#note(name, 'configured', this.#configuredFor(name) ?? null) ?? look()
    const found = path !== null && isExecutable(path) ? realpathSync(path) : null
    this.#found.set(name, found)
    return found
  }

  #note(name: string, because: FoundBy, path: string | null): string | null {
    if (path !== null) this.#because.set(name, because)
    return path
  }

  #configuredFor(name: CellRuntimeName): string | undefined {
    return name === 'shell' ? undefined : this.#configured[name]
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}

/** Whether users other than its owner can reach a path, according to its modes. */
function isOpenToAll(path: string): boolean {
  const others = 0o001
  return path === '/' || ((statSync(path).mode & others) !== 0 && isOpenToAll(dirname(path)))
}
