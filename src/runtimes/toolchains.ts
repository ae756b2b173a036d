/**
 * Finds the interpreters that guests run on. It searches once; a missing interpreter only makes its runtime unavailable.
 * Interpreters are asked for their version outside of any cell. So one that nobody configured counts only if root or this
 * user has put it there.
 */
import { accessSync, constants, existsSync, realpathSync, statSync } from 'node:fs'
import { dirname, isAbsolute, join } from 'node:path'

import { LazaretError } from '../core/errors.ts'
import type { CellRuntimeName, ToolchainName } from '../core/request.ts'
import { findInPackage } from './own-packages.ts'
import { findIntruder } from './own-path.ts'
import { askPython } from './python-question.ts'
import type { PythonToolchain } from './python-question.ts'

export type ToolchainPaths = { readonly [Name in ToolchainName]?: string }

const nodeMajorMin = 24

export class Toolchains {
  readonly #configured: ToolchainPaths
  readonly #found = new Map<string, string | null>()
  readonly #pythons = new Map<boolean, PythonToolchain | null>()
  /** Why something on PATH is not used, by the name of the program. */
  readonly #passedOver = new Map<string, string>()

  constructor(configured: ToolchainPaths = {}) {
    this.#configured = configured
  }

  /** Configured, else the packaged one, else `bun` on PATH. */
  bun(): string | null {
    const packaged = process.arch === 'arm64' ? '@oven/bun-linux-aarch64' : '@oven/bun-linux-x64'
    return this.find('bun', () => this.fromPackage('bun', packaged) ?? this.fromPath('bun'))
  }

  /** Configured, else the host's own when it is new enough, else the packaged one. */
  node(): string | null {
    const own =
      Number(process.versions.node.split('.')[0]) >= nodeMajorMin && process.versions['bun'] === undefined
        ? process.execPath
        : null
    return this.find('node', () => own ?? this.fromPackage('node', `node-linux-${process.arch}`))
  }

  shell(): string | null {
    return this.find('shell', () =>
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
    const candidates = python === undefined ? [this.fromPath('python3'), '/usr/bin/python3'] : [python]
    let found: PythonToolchain | null = null
    for (const path of candidates) {
      const answer = path === null || !isExecutable(path) ? null : askPython(path)
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
  refuse(name: ToolchainName, otherwise: { readonly detail: string; readonly hint: string }): LazaretError {
    const detail = this.explain(name)
    if (detail === undefined) return new LazaretError('RUNTIME_UNAVAILABLE', otherwise)
    const hint =
      this.#configured[name] === undefined
        ? `Name it in \`toolchains.${name}\` if it is to be used all the same, or close it to others.`
        : `Name another one in \`toolchains.${name}\`, or leave that out to have one looked for.`
    return new LazaretError('RUNTIME_UNAVAILABLE', { detail: `${detail}.`, hint })
  }

  /** Why the interpreter that was configured is none, or the one on PATH is not used; undefined when there was neither. */
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

  /** The program of that name in a package. Its real path: from the look at who can change it on, it is spelt no other way. */
  fromPackage(name: string, packaged: string): string | null {
    const { path, passedOver } = findInPackage(packaged, `bin/${name}`)
    if (path === undefined && passedOver !== undefined)
      this.#passedOver.set(name, `The package ${packaged} is passed over: ${passedOver.reason}`)
    return path ?? null
  }

  /** On PATH, where root or this user has put it there. */
  fromPath(name: string): string | null {
    const folders = (process.env['PATH'] ?? '').split(':').filter(isAbsolute)
    for (const path of folders.map((folder) => join(folder, name)).filter(isExecutable)) {
      const intruder = findIntruder(path)
      if (intruder === undefined) return path
      this.#passedOver.set(name, `${path} on PATH is passed over: ${intruder.reason}`)
    }
    return null
  }

  /** The interpreter of a runtime, once found: configured, else what `look` finds. */
  find(name: CellRuntimeName, look: () => string | null): string | null {
    const known = this.#found.get(name)
    if (known !== undefined) return known
    const path = this.#configuredFor(name) ?? look()
    const found = path !== null && isExecutable(path) ? realpathSync(path) : null
    this.#found.set(name, found)
    return found
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

/** Whether users other than its owner can come to a path, as far as modes tell. */
function isOpenToAll(path: string): boolean {
  const others = 0o001
  return path === '/' || ((statSync(path).mode & others) !== 0 && isOpenToAll(dirname(path)))
}
