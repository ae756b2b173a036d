/** The environments of a Lazaret: built once, and opened by the runs and sandboxes that name them. */
import { join } from 'node:path'

import type { Clock } from '../core/clock.ts'
import { LazaretError } from '../core/errors/errors.ts'
import type { GuestEnvironment } from '../runtimes/packages/guest-packages.ts'
import { build } from './build.ts'
import type { BuildGround } from './build-ground.ts'
import type { CreateOptions, Environment, EnvironmentSpec, EnvironmentsApi } from './environment.ts'
import { readName, readSpec } from './read-spec.ts'
import { EnvironmentStore } from './store.ts'

export interface EnvironmentsParts extends BuildGround {
  /** Looked up only when it is needed, because a user may have no home folder. */
  readonly folder: () => string
  readonly clock: Clock
}

export class Environments implements EnvironmentsApi, AsyncDisposable {
  readonly #parts: EnvironmentsParts
  readonly #store: EnvironmentStore
  /** For each hash that this process uses, the function that ends the use. */
  readonly #used = new Map<string, () => Promise<void>>()

  constructor(parts: EnvironmentsParts) {
    this.#parts = parts
    this.#store = new EnvironmentStore(parts.folder)
  }

  async create(name: string, input: EnvironmentSpec, options: CreateOptions = {}): Promise<Environment> {
    readName(name)
    const spec = readSpec(input)
    const { replace = false } = options
    if (!replace && this.#store.named(name) !== undefined)
      throw new LazaretError('ENVIRONMENT_EXISTS', { detail: `Environment ${name}.` })
    await using staged = await this.#store.stage()
    const manifest = await build({ spec, staged: staged.path, ground: this.#parts, options })
    // The environment has its own lock.
    const { lock: _lock, ...asked } = spec
    const updatedAt = this.#parts.clock.timestamp()
    return await this.#store.keep(name, staged.path, { manifest, replace, updatedAt, spec: asked })
  }

  list(): Promise<readonly Environment[]> {
    return this.#store.list()
  }

  async get(name: string): Promise<Environment> {
    return this.#find(readName(name))
  }

  async remove(name: string): Promise<void> {
    const named = this.#store.named(readName(name))
    if (named === undefined) throw notFound(name)
    const others = (await this.#store.names()).filter((one) => one !== name)
    if (others.some((one) => this.#store.named(one)?.hash === named.hash)) return this.#store.forget(name)
    if (await this.#store.remove(name, named)) return undefined
    throw new LazaretError('ENVIRONMENT_IN_USE', { detail: `Environment ${name}.` })
  }

  async prune(): Promise<readonly string[]> {
    await this.#store.sweep()
    const names = await this.#store.names()
    const named = new Set(names.map((name) => this.#store.named(name)?.hash))
    const removed: string[] = []
    for (const hash of await this.#store.hashes())
      if (!named.has(hash) && (await this.#store.removeUnused(hash))) removed.push(hash)
    return removed
  }

  /**
   * Opens an environment for guests. The process then uses it until this object is disposed, because workers with it
   * may be parked for later runs. Throws ENVIRONMENT_NOT_FOUND; RUNTIME_UNAVAILABLE if it was built for another Python.
   */
  open(name: string): GuestEnvironment {
    const { hash, pythonVersion, npm, python } = this.#find(readName(name))
    const own = python.length === 0 ? null : this.#parts.pythonVersion()
    if (own !== null && pythonVersion !== null && series(own) !== series(pythonVersion))
      throw new LazaretError('RUNTIME_UNAVAILABLE', {
        detail: `Environment ${name} is for Python ${pythonVersion}; guests run on ${own}.`,
        hint: `Create it again: lazaret env update ${name}`,
      })
    if (!this.#used.has(hash)) {
      const stop = this.#store.use(hash)
      if (stop === undefined) throw notFound(name)
      this.#used.set(hash, stop)
    }
    const folder = this.#store.folderOf(hash)
    return {
      hash,
      packages: {
        ...(python.length === 0 ? {} : { python: [join(folder, 'python')] }),
        ...(npm.length === 0 ? {} : { node: join(folder, 'node_modules') }),
      },
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const stops = [...this.#used.values()]
    this.#used.clear()
    await Promise.all(stops.map((stop) => stop()))
  }

  #find(name: string): Environment {
    const found = this.#store.find(name)
    if (found === undefined) throw notFound(name)
    return found
  }
}

/** Compiled modules work with every patch release of a minor version. */
function series(version: string): string {
  return version.split('.').slice(0, 2).join('.')
}

function notFound(name: string): LazaretError {
  return new LazaretError('ENVIRONMENT_NOT_FOUND', { detail: `Environment ${name}.` })
}
