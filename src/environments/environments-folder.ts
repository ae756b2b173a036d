/** The options for environments: their folder, their size, and the hosts that builds may reach. */
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'

import { LazaretError } from '../core/errors/errors.ts'

export interface EnvironmentsOptions {
  /** Absolute. Nobody but root and this user may be able to write to it. */
  readonly folder?: string
  /** Bound on the files of one environment. */
  readonly bytesMax?: number
  /** Hosts that builds may reach in addition to the package sources, written as in `NetworkPolicy.allow`. */
  readonly packageHosts?: readonly string[]
}

/** Half the disk of an ordinary sandbox; the installers need the other half. */
export const environmentBytesUsual = 1024 * 1024 * 1024

/** The user's own folder for data. Source: XDG Base Directory Specification. Throws INVALID_REQUEST for a user without one. */
export function usualFolder(): string {
  const named = process.env['XDG_DATA_HOME']
  const data = named !== undefined && isAbsolute(named) ? named : join(requireHome(), '.local/share')
  return join(data, 'lazaret/environments')
}

function requireHome(): string {
  const home = homeFolder()
  if (home !== undefined) return home
  throw new LazaretError('INVALID_REQUEST', {
    detail: 'environments.folder: this user has no home folder.',
    hint: 'Set the environments folder with the option `environments`.',
  })
}

/** Undefined for a user without an entry in the machine's user database. */
export function homeFolder(): string | undefined {
  try {
    return homedir()
  } catch {
    return undefined
  }
}
