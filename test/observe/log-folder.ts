/** Audit logs for tests, each in its own folder, which is removed at the end of the test. */
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import type { RunSpec } from '../../src/core/request.ts'
import type { Work } from '../../src/core/work.ts'
import type { WorkRecord } from '../../src/observe/audit.ts'
import { AuditFile } from '../../src/observe/audit-file.ts'
import { AuditLog } from '../../src/observe/audit-log.ts'
import type { AuditLogParts } from '../../src/observe/audit-log.ts'
import { FakeClock } from '../pool/fake-worker.ts'

export class LogFolder implements Disposable {
  readonly path = mkdtempSync(join(tmpdir(), 'lazaret-audit-'))
  readonly file = join(this.path, 'audit.jsonl')

  open(parts: Partial<AuditLogParts> = {}): AuditLog {
    return new AuditLog({
      file: new AuditFile({ path: this.file, lock: async () => true }),
      onFailure: 'refuse',
      clock: new FakeClock(),
      level: () => 'strong',
      onFailed: () => undefined,
      ...parts,
    })
  }

  /** Writes `count` records with a log that is closed afterwards. */
  async fill(count: number, client?: string): Promise<void> {
    await using log = this.open()
    const records = Array.from({ length: count }, (_, index) => recordOf({ id: `run-${index}`, client }))
    await Promise.all(records.map((record) => log.record(record)))
  }

  get lines(): string[] {
    return readFileSync(this.file, 'utf8').split('\n').slice(0, -1)
  }

  set lines(lines: readonly string[]) {
    writeFileSync(this.file, lines.map((line) => `${line}\n`).join(''))
  }

  append(text: string): void {
    appendFileSync(this.file, text)
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true })
  }
}

interface Asked {
  readonly id?: string
  readonly client?: string | undefined
  readonly spec?: Partial<RunSpec>
}

export function recordOf({ id = 'one', client, spec }: Asked = {}): WorkRecord {
  const work: Work = {
    kind: 'run',
    id,
    client,
    runtime: 'python',
    limits: {},
    spec: { code: 'print(1)', language: 'python', ...spec },
  }
  return { work, end: { outcome: 'completed', exitCode: 0 }, wallMs: 3 }
}
