/** Files that the command line names, for commands that only read them. */
import { readFileSync } from 'node:fs'

import { describeSystemError } from '../output/system-error.ts'
import { toSingleLine } from '../output/terminal-text.ts'
import { UsageError } from './usage-error.ts'

/** Returns the result of `read`. Throws a UsageError that names the file if it cannot be read. */
export async function readNamed<T>(path: string, read: () => T | Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof UsageError) throw error
    const reason = describeSystemError(error) ?? (error instanceof TypeError ? error.message : undefined)
    if (reason === undefined) throw error
    throw new UsageError(`cannot read ${toSingleLine(path)}: ${reason}.`, 'Check the path that was given.')
  }
}

export function readNamedText(path: string): Promise<string> {
  return readNamed(path, () => readFileSync(path, 'utf8'))
}

/** Throws a UsageError if the file is not a public key. */
export async function requireKey(path: string, text: string): Promise<void> {
  const { readPublicKey } = await import('../../../observe/verify-receipt.ts')
  try {
    readPublicKey(text)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw new UsageError(
      `cannot use ${toSingleLine(path)}: ${error.message}`,
      'Name the public key: lazaret keys create writes it to a file that ends in .pub.',
    )
  }
}
