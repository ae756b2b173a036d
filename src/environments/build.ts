/** The story of a build: packages are installed in a sandbox, copied out, checked and hashed. */
import { createReadStream, createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'

import { LazaretError } from '../core/errors/errors.ts'
import type { Sandbox } from '../sandbox/sandbox.ts'
import type { CreateOptions, EnvironmentSpec } from './environment.ts'
import type { BuildGround } from './build-ground.ts'
import { Installer } from './installer.ts'
import { installNpm, npmOut, npmProject, replaceBinLinks, runScripts } from './npm-packages.ts'
import type { NpmInstalled } from './npm-packages.ts'
import { findPackageSources } from './package-sources.ts'
import type { PackageSources } from './package-sources.ts'
import { installPython, pythonOut } from './python-packages.ts'
import type { PythonInstalled } from './python-packages.ts'
import { explainDenied, sourceNetwork } from './source-network.ts'
import { askForSources } from './usual-sources.ts'
import type { SealedEnvironment } from './records.ts'
import { sealFolder } from './seal.ts'

export interface Built {
  readonly hash: string
  readonly sealed: SealedEnvironment
}

interface Building {
  readonly spec: EnvironmentSpec
  /** A folder of the host. */
  readonly staged: string
  readonly ground: BuildGround
  readonly options: CreateOptions
}

interface Installed {
  readonly python: PythonInstalled | undefined
  readonly npm: NpmInstalled | undefined
}

/** Fills `staged`. Throws ENVIRONMENT_FAILED, and what opening a sandbox throws. */
export async function build(building: Building): Promise<Built> {
  const { staged, ground } = building
  const { python, npm } = await install(building)
  const { hash, files, bytes } = await sealFolder(staged)
  return {
    hash,
    sealed: {
      pythonVersion: python === undefined ? null : ground.pythonVersion(),
      python: python?.packages ?? [],
      npm: npm?.packages ?? [],
      files,
      bytes,
      lock: {
        ...(python === undefined ? {} : { python: python.lock }),
        ...(npm === undefined ? {} : { npm: npm.lock }),
      },
    },
  }
}

async function install(building: Building): Promise<Installed> {
  const { spec, staged } = building
  // Next to `staged`, not in it: all of `staged` becomes the environment.
  const packed = `${staged}.tar`
  try {
    const installed = await installAll(building, packed)
    if (installed.npm !== undefined && hasScripts(spec)) await buildWithScripts(building, packed)
    return installed
  } finally {
    await rm(packed, { force: true })
  }
}

function hasScripts({ allowScripts = [] }: EnvironmentSpec): boolean {
  return allowScripts.length > 0
}

/** If install scripts must still run, the npm project goes into the archive `packed`. All else goes into `staged`. */
async function installAll(building: Building, packed: string): Promise<Installed> {
  const { spec, staged, ground, options } = building
  const { offline = false } = spec
  const sources = offline ? undefined : findPackageSources(process.env)
  const local = showLocal(spec)
  const network =
    sources && (await sourceNetwork(await addressesFor(spec, sources, ground.open), ground.packageHosts))
  const sandboxOptions = {
    limits: limitsOf(ground),
    ...(sources && network && { env: sources.variables, network }),
  }
  const binds = [...(sources?.binds ?? []), ...local.binds]
  await using sandbox = await ground.open(sandboxOptions, binds).catch((error: unknown) => {
    throw network === undefined ? error : explainDenied(error, network, ground.networks)
  })
  await requireOwnView(sandbox)
  const installer = new Installer(sandbox, options)
  const python = await installPython(installer, spec, local.links)
  if (python !== undefined) await takeOut(installer, { ...building, from: pythonOut, to: `${staged}/python` })
  const npm = await installNpm(installer, spec, local)
  if (npm !== undefined && hasScripts(spec))
    await pipeline(sandbox.downloadTar({ path: npmProject }), createWriteStream(packed, { mode: 0o600 }))
  else if (npm !== undefined) await takeOutNpm(installer, building)
  return { python, npm }
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

/** Install scripts run in their own sandbox, which has the packages and no network. */
async function buildWithScripts(building: Building, packed: string): Promise<void> {
  const { spec, ground, options } = building
  await using sandbox = await ground.open({ limits: limitsOf(ground) }, [])
  await sandbox.uploadTar(createReadStream(packed), { path: npmProject })
  const installer = new Installer(sandbox, options)
  await runScripts(installer, spec.allowScripts ?? [])
  await takeOutNpm(installer, building)
}

/** Twice an environment's size, because installers unpack their downloads next to them. */
function limitsOf({ bytesMax }: BuildGround): { readonly diskBytes: number } {
  return { diskBytes: bytesMax * 2 }
}

async function takeOutNpm(installer: Installer, building: Building): Promise<void> {
  await replaceBinLinks(installer)
  await takeOut(installer, { ...building, from: npmOut, to: `${building.staged}/node_modules` })
}

interface Taking extends Building {
  readonly from: string
  readonly to: string
}

async function takeOut({ sandbox }: Installer, { from, to, ground, options }: Taking): Promise<void> {
  options.onProgress?.({ step: 'take-out' })
  const { skipped } = await sandbox.downloadFolder(to, { path: from, bytesMax: ground.bytesMax })
  options.signal?.throwIfAborted()
  const [first] = skipped
  if (first !== undefined)
    throw new LazaretError('ENVIRONMENT_FAILED', {
      detail: `${skipped.length} entries are not files or folders, such as ${JSON.stringify(first.path.slice(0, 200))}.`,
      hint: 'Packages with links or special files in them cannot be used.',
    })
}

const localFolder = '/opt/lazaret/local'

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
