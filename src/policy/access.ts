/**
 * What requests may ask for beyond their own work: the host's network, modules in workers, folders of the host. Absent
 * means refused, so that a request that was passed on unchecked, as in `run({ ...body })`, gets access to nothing on
 * the host.
 */
import { realpathSync } from 'node:fs'
import { basename, dirname, join, sep } from 'node:path'

import { LazaretError } from '../core/errors/errors.ts'
import type { Network, NetworkKind } from '../core/network.ts'
import { preloadFor } from '../core/preload.ts'
import type { Preload } from '../core/preload.ts'
import type { Language } from '../core/request.ts'
import { networkKindOf } from '../jail/edge/rules.ts'
import type { SandboxWork, Work } from '../core/work.ts'

export interface Access {
  /**
   * The networks that a request may name. `policy`: any policy for public addresses; `local-policy`: also one that names the
   * host's loopback or private addresses. Default `['none']`.
   */
  readonly networks?: readonly NetworkKind[]
  /** Whether a request may name modules to preload that the option `preload` does not. Default false. */
  readonly preload?: boolean
  /**
   * Whether a request may bring environment variables: `env` and `secrets` of a run or a sandbox, `env` of sessions, `env`
   * and `variables` of commands, and `setEnvVars()`. Default true: they reach only the guest itself.
   */
  readonly env?: boolean
  /** Folders of the host: a sandbox may be given one as its workspace, or a folder in one. Default none. */
  readonly workspaces?: readonly string[]
  /** Folders of the host that a sandbox may ask to read, with all that is in them. Default none. */
  readonly readable?: readonly string[]
  /** Names of the environments that a request may use. Default: all, because they are made for guests. */
  readonly environments?: readonly string[]
}

export interface AccessRules extends Access {
  /** Modules that the operator's workers import anyway. */
  readonly modules?: Preload | undefined
}

/** Throws ACCESS_DENIED, which names the option. */
export function requireAccess(work: Work, rules: AccessRules): void {
  switch (work.kind) {
    case 'run':
      requireVariables(Object.keys(work.spec.env ?? {}), rules)
      requireEnvironment(work.spec, rules)
      return requireNetworkAndModules(work.spec, rules)
    case 'warm-up':
      requireEnvironment(work, rules)
      return requireNetworkAndModules(work, rules)
    case 'sandbox':
      requireVariables(work.variables, rules)
      requireEnvironment(work, rules)
      requireNetworkAndModules(work, rules)
      for (const folder of findFolders(work)) requireFolder(folder, rules)
      return undefined
    case 'validation':
      // Nothing of it runs.
      return undefined
    case 'context':
    case 'code':
      return requireVariables(work.variables, rules)
    case 'command':
    case 'process':
      // Everything else that they can reach was admitted with their sandbox.
      return requireVariables([...work.credentials, ...(work.variables ?? [])], rules)
    case 'files':
    case 'port':
      return undefined
  }
}

interface Asking {
  readonly language?: Language
  readonly network?: Network | undefined
  readonly preload?: readonly string[] | undefined
}

function requireNetworkAndModules(
  { network = 'none', preload = [], language = 'shell' }: Asking,
  { networks = ['none'], preload: isFree = false, modules = [] }: AccessRules,
): void {
  const kind = networkKindOf(network)
  if (!allowsNetwork(networks, kind))
    throw denied(
      `network: ${JSON.stringify(kind)} is not among \`access.networks\`.`,
      `networks: [${[...networks, kind].map((name) => `'${name}'`).join(', ')}]`,
    )
  const own = preloadFor(modules, language)
  const other = isFree ? undefined : preload.find((name) => !own.includes(name))
  if (other !== undefined)
    throw denied(
      `preload: ${JSON.stringify(other)}; a request may name other modules only with \`access.preload\`.`,
      'preload: true',
    )
}

export function allowsNetwork(networks: readonly NetworkKind[], kind: NetworkKind): boolean {
  return networks.includes(kind) || (kind === 'policy' && networks.includes('local-policy'))
}

/**
 * An environment that does not exist gets the same message, so that a caller learns nothing about environments that it
 * may not use.
 */
function requireEnvironment(
  { environment }: { readonly environment?: string | undefined },
  { environments }: AccessRules,
): void {
  if (environment === undefined || environments === undefined || environments.includes(environment)) return
  throw denied(`environment: ${JSON.stringify(environment)} is not among \`access.environments\`.`)
}

/** Throws ACCESS_DENIED if a request may bring no variables and there are some. */
export function requireVariables(
  names: readonly string[] = [],
  { env: isAllowed = true }: AccessRules,
): void {
  const [name] = names
  if (!isAllowed && name !== undefined)
    throw denied(`env: ${JSON.stringify(name)}; \`access.env\` allows requests no variables.`)
}

/** A folder of the host that a sandbox asks for. */
export interface FoundFolder {
  readonly option: 'workspaces' | 'readable'
  readonly named: string
  /** Where the name led when it was looked up. */
  readonly path: string
}

export function findFolders({
  workspace,
  readable = [],
}: Pick<SandboxWork, 'workspace' | 'readable'>): FoundFolder[] {
  const find = (option: FoundFolder['option']) => (named: string) => ({ option, named, path: resolve(named) })
  return [
    ...(workspace === undefined ? [] : [workspace]).map(find('workspaces')),
    ...readable.map(find('readable')),
  ]
}

/** Throws ACCESS_DENIED. */
export function requireFolder({ option, named, path }: FoundFolder, rules: AccessRules): void {
  const isWithin = (allowed: string): boolean => {
    const top = resolve(allowed)
    return path === top || path.startsWith(top.endsWith(sep) ? top : top + sep)
  }
  if (rules[option]?.some(isWithin) === true) return
  const field = option === 'workspaces' ? 'workspace' : 'readable'
  // The same message for a folder that does not exist, so that a caller learns nothing about folders that it may not
  // use.
  throw denied(`${field}: ${JSON.stringify(named)} is in no folder of \`access.${option}\`.`)
}

/** The real path, even of a folder that does not exist: a link must not lead out of the allowed folders. */
function resolve(folder: string): string {
  try {
    return realpathSync(folder)
  } catch {
    const parent = dirname(folder)
    return parent === folder ? folder : join(resolve(parent), basename(folder))
  }
}

/** `setting` would allow it. */
function denied(detail: string, setting?: string): LazaretError {
  if (setting === undefined) return new LazaretError('ACCESS_DENIED', { detail })
  const hint = `Leave it out. If you are the operator, allow it with the option \`access: { ${setting} }\`.`
  return new LazaretError('ACCESS_DENIED', { detail, hint })
}
