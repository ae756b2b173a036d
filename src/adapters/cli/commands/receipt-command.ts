/** `lazaret receipt verify`: checks whether the holder of a key signed a receipt. */
import { text } from 'node:stream/consumers'
import type { Command } from 'commander'

import { notGenuine } from './audit-command.ts'
import type { CommandContext } from './command-context.ts'
import { printJson } from '../output/print-json.ts'
import { readNamed, readNamedText, requireKey } from '../options/read-named.ts'

const help = `
The file, or - for standard input, has a result of \`lazaret run --json\`, its receipt, its signature, or a line of an audit
log.
Exit code 0 if the signature is valid, ${notGenuine} if it is not, 64 if a file cannot be read.

Example:
  lazaret run -l python -e '6 * 7' --json > result.json
  lazaret receipt verify result.json --key receipts.pem.pub
  lazaret run -l shell -e true --json | lazaret receipt verify - --key receipts.pem.pub`

interface ReceiptFlags {
  readonly key: string
  readonly json?: boolean
}

export function addReceiptCommand(program: Command, context: CommandContext): void {
  const receipt = program.command('receipt').description('check a signed receipt')
  const verify = receipt
    .command('verify <file>')
    .description('check that a receipt is signed and unchanged')
    .requiredOption('--key <public>', 'the public key, in PEM')
    .option('--json', 'print exactly one JSON document on standard output')
    .addHelpText('after', help)
    .action((file: string) => context.perform(verify, () => verifyFile(file, verify.opts<ReceiptFlags>())))
}

function readReceipt(file: string): Promise<string> {
  return file === '-' ? readNamed('standard input', () => text(process.stdin)) : readNamedText(file)
}

async function verifyFile(file: string, { key, json }: ReceiptFlags): Promise<number> {
  const { verifyReceipt } = await import('../../../observe/verify-receipt.ts')
  const [signed, publicKey] = await Promise.all([readReceipt(file), readNamedText(key)])
  await requireKey(key, publicKey)
  const verification = verifyReceipt(signed, publicKey)
  if (json === true) printJson(verification)
  else if (verification.isValid) {
    const { id, kind, outcome, time } = verification.statement
    process.stdout.write(`valid: ${kind} ${id}, ${outcome}, ended ${time}\n`)
  } else process.stdout.write(`NOT valid: ${verification.reason}\n`)
  return verification.isValid ? 0 : notGenuine
}
