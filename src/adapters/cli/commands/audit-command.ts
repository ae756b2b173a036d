/** `lazaret audit verify`: checks whether an audit log was changed. */
import type { Command } from 'commander'

import type { AuditVerification } from '../../../observe/verify-audit.ts'
import type { CommandContext } from './command-context.ts'
import { printJson } from '../output/print-json.ts'
import { readNamed, readNamedText, requireKey } from '../options/read-named.ts'

/** The exit code for invalid data. */
export const notGenuine = 65

const help = `
Exit code 0 if no record was changed, removed or moved, ${notGenuine} if one was, 64 if the log cannot be read.

A log that was truncated or rewritten as a whole looks intact. To detect that, note the hash of the last record
elsewhere from time to time, and pass it to --includes.`

interface AuditFlags {
  readonly key?: string
  readonly includes?: string
  readonly json?: boolean
}

export function addAuditCommand(program: Command, context: CommandContext): void {
  const audit = program.command('audit').description('check an audit log')
  const verify = audit
    .command('verify <file>')
    .description('check that each record is unchanged and in its place')
    .option('--key <public>', 'check the signatures of runs too, with this public key')
    .option('--includes <sha256>', 'require a record with this hash')
    .option('--json', 'print exactly one JSON document on standard output')
    .addHelpText('after', help)
    .action((file: string) => context.perform(verify, () => verifyFile(file, verify.opts<AuditFlags>())))
}

async function verifyFile(file: string, { key, includes, json }: AuditFlags): Promise<number> {
  const { verifyAudit } = await import('../../../observe/verify-audit.ts')
  const publicKey = key === undefined ? undefined : await readNamedText(key)
  if (key !== undefined) await requireKey(key, String(publicKey))
  const verification = await readNamed(file, () =>
    verifyAudit(file, {
      ...(publicKey === undefined ? {} : { publicKey }),
      ...(includes === undefined ? {} : { includes }),
    }),
  )
  if (json === true) printJson(verification)
  else process.stdout.write(describe(verification))
  return verification.isIntact ? 0 : notGenuine
}

function describe(verification: AuditVerification): string {
  const { isIntact, records, torn, isUnfinished, lost, signatures, problems, end } = verification
  const notes = [
    ...(torn > 0
      ? [`${torn} unfinished records, each followed by a record that says so: a crash while it was written`]
      : []),
    ...(isUnfinished ? ['the last line is unfinished: a crash, or a process that is still writing it'] : []),
    ...(lost > 0
      ? [`${lost} records were lost while the log could not be written, according to the log itself`]
      : []),
    ...(signatures > 0 ? [`${signatures} ${signatures === 1 ? 'signature' : 'signatures'} checked`] : []),
    ...problems.map(({ line, what }) => `line ${line}: ${what}`),
  ]
  const verdict = isIntact ? 'intact' : 'NOT intact'
  const last = end.sequence === 0 ? '' : `last record ${end.sequence}, ${end.sha256}\n`
  return `${verdict}: ${records} ${records === 1 ? 'record' : 'records'}\n${notes.map((note) => `  ${note}\n`).join('')}${last}`
}
