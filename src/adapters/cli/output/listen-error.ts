import { existsSync } from 'node:fs'
import { dirname } from 'node:path'

import { UsageError } from '../options/usage-error.ts'
import { describeSystemError } from './system-error.ts'
import { toSingleLine } from './terminal-text.ts'

interface WantedPlace {
  readonly host: string
  readonly port: number
  readonly unix?: string
}

/** Turns a system error of listening into a UsageError. Returns any other error unchanged. */
export function listenError(error: unknown, { host, port, unix }: WantedPlace): unknown {
  const reason = describeSystemError(error)
  if (reason === undefined) return error
  const place = toSingleLine(unix ?? `${host}:${port}`)
  // Node reports a missing folder as missing permission.
  if (unix !== undefined && !existsSync(dirname(unix)))
    return new UsageError(`cannot listen on ${place}: its folder does not exist.`, 'Create the folder first.')
  const advice =
    unix === undefined ? 'Name another --port or --host; --port 0 takes a free port.' : 'Name another path.'
  return new UsageError(`cannot listen on ${place}: ${reason}.`, advice)
}
