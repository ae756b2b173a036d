/** Where environments lie. */
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'

import { LazaretError } from '../core/errors/errors.ts'

export interface EnvironmentsOptions {
  /** Absolute. Nobody but root and this user may be able to write to it. */
  readonly folder?: string
  /** Of one environment, in files. */
  readonly bytesMax?: number
  /** What builds may reach besides the package sources, as in `NetworkPolicy.allow`. */
  readonly packageHosts?: readonly string[]
}

/** With as much again for the installers it is the disk of an ordinary sandbox. */
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
    detail: 'environments.folder: this user has no home.',
    hint: 'Name the folder of environments with the option `environments`.',
  })
}

/** Undefined for a user that the machine does not know. */
export function homeFolder(): string | undefined {
  try {
    return homedir()
  } catch {
    return undefined
  }
}
