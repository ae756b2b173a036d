/** Opens the audit log and the signer of receipts, according to the options. */
import { readFileSync, statSync } from 'node:fs'

import type { Clock } from '../core/clock.ts'
import { LazaretError } from '../core/errors/errors.ts'
import { messageOf } from '../core/primordials.ts'
import { exposureOf } from '../core/private-file.ts'
import type { ProtectionLevel } from '../core/protection.ts'
import type { RuntimeName } from '../core/request.ts'
import type { CodeWork, CommandWork, RunWork } from '../core/work.ts'
import { lockFile } from '../jail/machine/file-locks.ts'
import { noAudit } from '../observe/audit.ts'
import type { Audit } from '../observe/audit.ts'
import { AuditFile } from '../observe/audit-file.ts'
import { AuditLog } from '../observe/audit-log.ts'
import { AuditStream } from '../observe/audit-stream.ts'
import { Notary, SigningKey } from '../observe/notary.ts'
import { isStandardStream } from '../observe/standard-stream.ts'
import type { Toolchains } from '../runtimes/packages/toolchains.ts'
import type { AuditOptions, ParsedOptions, ReceiptOptions } from './options/options.ts'
import { RuntimeVersions } from './runtime-versions.ts'

export interface RecordKeepingParts {
  readonly options: Pick<ParsedOptions, 'audit' | 'receipts'>
  readonly clock: Clock
  readonly toolchains: Toolchains
  readonly level: () => ProtectionLevel
  readonly onFailed: (failure: LazaretError) => void
}

export interface RecordKeeping extends AsyncDisposable {
  readonly audit: Audit
  /** Absent if statements about programs are not needed. */
  readonly notary?: Notary
}

/** Throws AUDIT_FAILED if the log cannot be opened, INVALID_REQUEST if the key cannot be read. */
export function openRecords(parts: RecordKeepingParts): RecordKeeping {
  const { audit, receipts } = parts.options
  const key = receipts === false ? undefined : readKey(receipts)
  if (audit === false && key === undefined) return { audit: noAudit, async [Symbol.asyncDispose]() {} }
  const versions = new RuntimeVersions(parts.toolchains)
  const notary = new Notary({
    ...parts,
    key,
    versionOf: (work) => versions.of(runtimeOf(work)),
  })
  if (audit === false) return { audit: noAudit, notary, async [Symbol.asyncDispose]() {} }
  const log = openLog(audit, parts)
  return { audit: log, notary, [Symbol.asyncDispose]: () => log[Symbol.asyncDispose]() }
}

function runtimeOf(work: RunWork | CommandWork | CodeWork): RuntimeName {
  if (work.kind === 'run') return work.runtime
  if (work.kind !== 'code') return 'shell'
  return work.language === 'python' ? 'python' : 'node'
}

function openLog({ file: path, onFailure = 'refuse' }: AuditOptions, parts: RecordKeepingParts): AuditLog {
  let file
  try {
    file = isStandardStream(path) ? new AuditStream(path) : new AuditFile({ path, lock: lockFile })
  } catch (cause) {
    throw new LazaretError('AUDIT_FAILED', { detail: messageOf(cause), cause })
  }
  return new AuditLog({ ...parts, file, onFailure })
}

function readKey({ privateKeyFile }: ReceiptOptions): SigningKey {
  try {
    const exposure = exposureOf(statSync(privateKeyFile))
    if (exposure !== undefined) throw new Error(`${privateKeyFile} ${exposure.reason}. ${exposure.remedy}.`)
    return new SigningKey(readFileSync(privateKeyFile))
  } catch (cause) {
    throw new LazaretError('INVALID_REQUEST', {
      detail: `Options: receipts.privateKeyFile: ${messageOf(cause)}`,
      hint: '`lazaret keys create` makes a key.',
      cause,
    })
  }
}
