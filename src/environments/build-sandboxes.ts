/**
 * The sandboxes of a build. Each does one step, and ends with everything that a package may have left running in it, before
 * anybody uses its files.
 */
import { LazaretError } from '../core/errors/errors.ts'
import type { NetworkPolicy } from '../core/network.ts'
import type { Bind } from '../jail/plan/shape.ts'
import type { Sandbox } from '../sandbox/sandbox.ts'
import type { SandboxOptions } from '../sandbox/types.ts'
import type { BuildGround } from './build-ground.ts'
import type { CreateOptions, EnvironmentSpec } from './environment.ts'
import { Installer } from './installer.ts'
import { findPackageSources } from './package-sources.ts'
import type { PackageSources } from './package-sources.ts'
import { explainDenied, sourceNetwork } from './source-network.ts'
import { askForSources } from './usual-sources.ts'

export interface Building {
  readonly spec: EnvironmentSpec
  /** A folder of the host, for the build alone. */
  readonly staged: string
  readonly ground: BuildGround
  readonly options: CreateOptions
}

/** Guest paths of the local packages that a request names. */
export interface LocalPackages {
  /** Folders with archives of Python packages. */
  readonly links: readonly string[]
  /** Tarballs of npm packages. */
  readonly tarballs: readonly string[]
  /** A read-only npm cache. */
  readonly cache: string | undefined
}

type Step<T> = (installer: Installer) => Promise<T>

export const localFolder = '/opt/lazaret/local'

export class BuildSandboxes {
  readonly local: LocalPackages
  readonly #building: Building
  readonly #sources: PackageSources | undefined
  readonly #network: NetworkPolicy | undefined
  readonly #binds: readonly Bind[]

  private constructor(building: Building, sources?: PackageSources, network?: NetworkPolicy) {
    const { binds, ...local } = showLocal(building.spec)
    this.local = local
    this.#building = building
    this.#sources = sources
    this.#network = network
    this.#binds = [...(sources?.binds ?? []), ...binds]
  }

  static async plan(building: Building): Promise<BuildSandboxes> {
    const { spec, ground } = building
    if (spec.offline === true) return new BuildSandboxes(building)
    const sources = findPackageSources(process.env)
    const addresses = await addressesFor(spec, sources, ground.open)
    return new BuildSandboxes(building, sources, await sourceNetwork(addresses, ground.packageHosts))
  }

  /** It sees the local packages too, and reaches the package sources unless the build is offline. */
  withSources<T>(step: Step<T>, binds: readonly Bind[] = []): Promise<T> {
    const network = this.#network
    const options = network === undefined ? {} : { env: this.#sources?.variables ?? {}, network }
    return this.#during(options, [...this.#binds, ...binds], step)
  }

  /** It has no network, and sees nothing but these folders. */
  alone<T>(step: Step<T>, binds: readonly Bind[]): Promise<T> {
    return this.#during({}, binds, step)
  }

  async #during<T>(asked: SandboxOptions, binds: readonly Bind[], step: Step<T>): Promise<T> {
    const { ground, options } = this.#building
    const { bytesMax } = ground
    // Twice an environment's size, because installers unpack their downloads next to them.
    const limits = { diskBytes: bytesMax * 2 }
    await using sandbox = await ground.open({ limits, ...asked }, binds).catch((error: unknown) => {
      throw asked.network === undefined
        ? error
        : explainDenied(error, asked.network as NetworkPolicy, ground.networks)
    })
    await requireOwnView(sandbox)
    return await step(new Installer(sandbox, { ...options, bytesMax }))
  }
}

/** Installers are given folders by their paths in a guest's own file view, which `restricted` does not have. */
async function requireOwnView(sandbox: Sandbox): Promise<void> {
  const { isolation } = await sandbox.exec(':')
  if (isolation.level === 'strong' || isolation.level === 'standard') return
  throw new LazaretError('LIMIT_UNENFORCEABLE', {
    detail: `Environments are not built at level ${isolation.level}.`,
    hint: 'Run `lazaret doctor` for the fix, or build it on another machine and copy the environments folder.',
  })
}

async function addressesFor(
  spec: EnvironmentSpec,
  { index, moreIndexes, registry }: PackageSources,
  open: BuildGround['open'],
): Promise<readonly string[]> {
  const { python = [], npm = [], npmTarballs = [], lock } = spec
  const wantsPython = python.length > 0 || lock?.python !== undefined
  const wantsNpm = npm.length + npmTarballs.length > 0 || lock?.npm !== undefined
  const isKnown = (!wantsPython || index !== undefined) && (!wantsNpm || registry !== undefined)
  const usual = isKnown ? { indexes: [], registry: [] } : await askForSources(open)
  return [
    ...(wantsPython ? [...(index === undefined ? usual.indexes : [index]), ...moreIndexes] : []),
    ...(wantsNpm ? (registry === undefined ? usual.registry : [registry]) : []),
  ]
}

/** Shows archives of the host, each under its own path. */
function showLocal({ findLinks = [], npmTarballs = [], npmCache }: EnvironmentSpec) {
  const links = findLinks.map((host, index) => ({ host, guest: `${localFolder}/links-${index}` }))
  const tarballs = npmTarballs.map((host, index) => ({ host, guest: `${localFolder}/package-${index}.tgz` }))
  const cache = npmCache === undefined ? [] : [{ host: npmCache, guest: `${localFolder}/cache` }]
  return {
    binds: [...links, ...tarballs, ...cache],
    links: links.map(({ guest }) => guest),
    tarballs: tarballs.map(({ guest }) => guest),
    cache: cache[0]?.guest,
  }
}
