/** `lazaret keys create`: a key pair for signed receipts. */
import { rmSync, writeFileSync } from 'node:fs'

import type { Command } from 'commander'

import type { CommandContext } from './command-context.ts'
import { printJson } from '../output/print-json.ts'
import { describeSystemError } from '../output/system-error.ts'
import { toSingleLine } from '../output/terminal-text.ts'
import { UsageError } from '../options/usage-error.ts'

const help = `
Writes the private key to <file>, readable only by this user, and the public key to <file>.pub. Neither may exist.

Example:
  lazaret keys create /etc/lazaret/receipts.pem
  and in lazaret.config.json: "receipts": { "privateKeyFile": "/etc/lazaret/receipts.pem" }`

export function addKeysCommand(program: Command, context: CommandContext): void {
  const keys = program.command('keys').description('make keys for signed receipts')
  const create = keys
    .command('create <file>')
    .description('write a new private key to <file>, and its public key to <file>.pub')
    .option('--json', 'print exactly one JSON document on standard output')
    .addHelpText('after', help)
    .action((file: string) => context.perform(create, () => createKeys(file, create.opts())))
}

async function createKeys(file: string, { json }: { readonly json?: boolean }): Promise<number> {
  const { createReceiptKeys } = await import('../../../observe/create-keys.ts')
  const { privateKey, publicKey, keyId } = createReceiptKeys()
  const publicFile = `${file}.pub`
  // The public key first: a private key without its public key is the worse leftover.
  writeNew(publicFile, publicKey, 0o644)
  try {
    writeNew(file, privateKey, 0o600)
  } catch (error) {
    rmSync(publicFile, { force: true })
    throw error
  }
  if (json === true) printJson({ privateKeyFile: file, publicKeyFile: publicFile, keyId })
  else process.stdout.write(`private key ${file}\npublic key  ${publicFile}\nkey id      ${keyId}\n`)
  return 0
}

function writeNew(path: string, text: string, mode: number): void {
  try {
    writeFileSync(path, text, { mode, flag: 'wx' })
  } catch (error) {
    const reason = describeSystemError(error)
    if (reason === undefined) throw error
    throw new UsageError(
      `cannot write ${toSingleLine(path)}: ${reason}.`,
      'Name a new file in a folder that you can write to.',
    )
  }
}
