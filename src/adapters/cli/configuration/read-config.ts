/**
 * Reads one configuration file, if only root and this user can have written it. The path is inspected before it is
 * opened, so a pipe cannot block the command. Afterwards nobody else can replace the file.
 */
import { constants, lstatSync } from 'node:fs'
import { open } from 'node:fs/promises'

import { findIntruder, type Intruder, type Trust } from '../../../runtimes/packages/own-path.ts'
import { describeSystemError } from '../output/system-error.ts'
import { formatSize } from '../options/units.ts'
import { UsageError } from '../options/usage-error.ts'

/** Far more than all keys with long paths take. */
const configBytesMax = 64 * 1024

export type ConfigText = { readonly text: string } | { readonly intruder: Intruder }

/** Undefined where there is no such file. Throws a UsageError where there is one that cannot be read. */
export async function readConfig(path: string, trust: Partial<Trust> = {}): Promise<ConfigText | undefined> {
  try {
    // Does not follow links, because the owner of a link matters too.
    lstatSync(path)
    const intruder = findIntruder(path, trust)
    return intruder === undefined ? { text: await readBounded(path) } : { intruder }
  } catch (error) {
    if (error instanceof UsageError) throw error
    if (isAbsent(error)) return undefined
    throw cannotRead(path, describeSystemError(error) ?? String(error), hintFor(error))
  }
}

async function readBounded(path: string): Promise<string> {
  await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY)
  if (!(await file.stat()).isFile()) throw cannotRead(path, 'it is not a regular file')
  // One byte past the limit, to notice a longer file.
  const bytes = Buffer.alloc(configBytesMax + 1)
  let length = 0
  for (let more = 1; more > 0 && length < bytes.length; length += more)
    more = (await file.read(bytes, length, bytes.length - length, length)).bytesRead
  if (length > configBytesMax) throw cannotRead(path, `it is longer than ${formatSize(configBytesMax)}`)
  return bytes.toString('utf8', 0, length)
}

function isAbsent(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')
}

function cannotRead(path: string, reason: string, hint = 'Fix or remove the file.'): UsageError {
  return new UsageError(`cannot read ${path}: ${reason}.`, hint)
}

/**
 * The user may not read it, for example after `su`, or in a container whose HOME is still root's. The file may not
 * exist.
 */
function hintFor(error: unknown): string | undefined {
  if (!(error instanceof Error && 'code' in error && error.code === 'EACCES')) return undefined
  return 'Let this user read it. If its folder is not yours, set HOME or XDG_CONFIG_HOME to one that is.'
}
