/**
 * What work may ask for beyond itself: the host's network, modules in its workers, folders of the host. Absent means
 * refused, so that a request which was passed on unread, as in `run({ ...body })`, reaches nothing of the host's.
 */
import { realpathSync } from 'node:fs'
import { basename, dirname, join, sep } from 'node:path'

import { LazaretError } from '../core/errors.ts'
import type { NetworkMode } from '../core/request.ts'
import type { Work } from '../core/work.ts'

export interface Access {
  /** The networks that a request may name. Default `['none']`. */
  readonly networks?: readonly NetworkMode[]
  /** Whether a request may name modules to preload that the option `preload` does not. Default false. */
  readonly preload?: boolean
  /** Folders of the host: a sandbox may be given one as its workspace, or a folder in one. Default none. */
  readonly workspaces?: readonly string[]
  /** Folders of the host that a sandbox may ask to read, with all that is in them. Default none. */
  readonly readable?: readonly string[]
}

export interface AccessRules extends Access {
  /** What workers of the operator's have imported anyway. */
  readonly modules?: readonly string[] | undefined
}

/** Throws ACCESS_DENIED, which names the option. */
export function requireAccess(work: Work, rules: AccessRules): void {
  switch (work.kind) {
    case 'run':
      return requireNetworkAndModules(work.spec, rules)
    case 'warm-up':
      return requireNetworkAndModules(work, rules)
    case 'sandbox':
      requireNetworkAndModules(work, rules)
      if (work.workspace !== undefined) requireFolder('workspaces', work.workspace, rules)
      for (const folder of work.readable ?? []) requireFolder('readable', folder, rules)
      return undefined
    case 'command':
    case 'process':
    case 'files':
      // All that they can reach was admitted with their sandbox.
      return undefined
  }
}

interface Asking {
  readonly network?: NetworkMode | undefined
  readonly preload?: readonly string[] | undefined
}

function requireNetworkAndModules(
  { network = 'none', preload = [] }: Asking,
  { networks = ['none'], preload: isFree = false, modules = [] }: AccessRules,
): void {
  if (!networks.includes(network))
    throw denied(`network: ${JSON.stringify(network)} is not among \`access.networks\`.`)
  const other = isFree ? undefined : preload.find((name) => !modules.includes(name))
  if (other !== undefined)
    throw denied(`preload: ${JSON.stringify(other)}; a request names modules only with \`access.preload\`.`)
}

function requireFolder(option: 'workspaces' | 'readable', folder: string, rules: AccessRules): void {
  const found = resolve(folder)
  const isWithin = (allowed: string): boolean => {
    const top = resolve(allowed)
    return found === top || found.startsWith(top.endsWith(sep) ? top : top + sep)
  }
  if (rules[option]?.some(isWithin) === true) return
  const field = option === 'workspaces' ? 'workspace' : 'readable'
  // The same words for a folder that is not there: whoever may not have it learns nothing of it.
  throw denied(`${field}: ${JSON.stringify(folder)} lies in no folder of \`access.${option}\`.`)
}

/** Where it really is, or would be: a link must not lead out of what is allowed. */
function resolve(folder: string): string {
  try {
    return realpathSync(folder)
  } catch {
    const parent = dirname(folder)
    return parent === folder ? folder : join(resolve(parent), basename(folder))
  }
}

const denied = (detail: string): LazaretError => new LazaretError('ACCESS_DENIED', { detail })
