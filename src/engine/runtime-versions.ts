/** The version of a run's interpreter. Each interpreter is queried once. */
import { readFileSync } from 'node:fs'

import type { CellRuntimeName, RuntimeName } from '../core/request.ts'
import { askVersion } from '../runtimes/packages/ask-interpreter.ts'
import { findInPackage } from '../runtimes/packages/own-packages.ts'
import { cellRuntimes } from '../runtimes/registry.ts'
import type { Toolchains } from '../runtimes/packages/toolchains.ts'

export class RuntimeVersions {
  readonly #toolchains: Toolchains
  readonly #known = new Map<RuntimeName, Promise<string | undefined>>()

  constructor(toolchains: Toolchains) {
    this.#toolchains = toolchains
  }

  /** Undefined if the interpreter does not report a version. */
  of(runtime: RuntimeName): Promise<string | undefined> {
    const known = this.#known.get(runtime) ?? this.#ask(runtime).catch(() => undefined)
    this.#known.set(runtime, known)
    return known
  }

  async #ask(runtime: RuntimeName): Promise<string | undefined> {
    switch (runtime) {
      case 'snippet':
        return `quickjs-wasi ${versionOfPackage('quickjs-wasi')}`
      case 'isolate':
        return `isolated-vm ${versionOfPackage('isolated-vm')}, node ${await this.#askCell('node')}`
      default:
        return this.#askCell(runtime)
    }
  }

  async #askCell(name: CellRuntimeName): Promise<string | undefined> {
    const runtime = cellRuntimes.find((one) => one.name === name)
    const path = runtime?.toolchain.find(this.#toolchains) ?? null
    return path === null ? undefined : askVersion(path, runtime?.toolchain.version?.(this.#toolchains))
  }
}

function versionOfPackage(name: string): string {
  const { path } = findInPackage(name, 'package.json')
  return path === undefined ? '' : (JSON.parse(readFileSync(path, 'utf8')) as { version: string }).version
}
