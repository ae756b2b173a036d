/** The log of all work: its contents, what it must not contain, and what happens if it cannot be written. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { describe, test } from 'node:test'

import type { LazaretError } from '../../src/core/errors/errors.ts'
import type { Work } from '../../src/core/work.ts'
import type { Entry } from '../../src/observe/audit-line.ts'
import { verifyAudit } from '../../src/observe/verify-audit.ts'
import { createLazaret } from '../support/create-lazaret.ts'
import { LogFolder, recordOf } from './log-folder.ts'

test('ten thousand records are written in the order of their ends, and verified', async () => {
  using folder = new LogFolder()
  await folder.fill(10_000)
  const verification = await verifyAudit(folder.file)
  assert.deepEqual(verification.problems, [])
  assert.equal(verification.isIntact, true)
  assert.deepEqual([verification.records, verification.end.sequence], [10_000, 10_000])
  const ids = folder.lines.map((line) => (JSON.parse(line) as Entry).statement.id)
  assert.deepEqual(
    ids,
    ids.map((_, index) => `run-${index}`),
  )
})

test('nothing is written to a file that another user owns or may write, nor to anything but a regular file', () => {
  using folder = new LogFolder()
  const { file } = folder
  const refuses = (message: RegExp) => {
    assert.throws(() => createLazaret({ audit: { file } }), { code: 'AUDIT_FAILED', message })
    rmSync(file)
  }
  writeFileSync(file, '')
  chmodSync(file, 0o666)
  refuses(/can be written by everybody/)
  symlinkSync('/dev/null', file)
  refuses(/symbolic link|ELOOP/)
  execFileSync('mkfifo', [file])
  refuses(/not a regular file/)
  if (process.geteuid?.() !== 0) return
  writeFileSync(file, '')
  chownSync(file, 12_345, 12_345)
  refuses(/belongs to another user/)
})

test('no batch keeps the event loop busy for long', async () => {
  using folder = new LogFolder()
  let turns = 0
  let isOver = false
  const count = () => {
    turns++
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  await folder.fill(2000)
  isOver = true
  assert.ok(turns > 20, `${turns} turns of the event loop`)
})

const marker = 'MARKER-c0ffee'
const kinds: readonly Work[] = [
  {
    kind: 'run',
    id: 'run',
    client: 'ada',
    runtime: 'python',
    limits: {},
    spec: {
      code: `print('${marker}')`,
      language: 'python',
      input: { [marker]: marker },
      stdin: marker,
      files: { [marker]: marker },
      env: { [marker]: marker },
      args: [marker],
    },
  },
  {
    kind: 'run',
    id: 'snippet',
    runtime: 'snippet',
    limits: {},
    spec: { code: marker, language: 'javascript', input: marker },
  },
  { kind: 'command', id: 'command', sandbox: 'box', command: `echo ${marker}`, credentials: [marker] },
  { kind: 'process', id: 'process', sandbox: 'box', command: marker, credentials: [] },
  { kind: 'files', id: 'files', sandbox: 'box', operation: 'read', path: `/workspace/${marker}` },
  { kind: 'port', id: 'port', sandbox: 'box', port: 3000, host: '127.0.0.1' },
  { kind: 'warm-up', id: 'warm-up', language: 'shell', runtime: 'shell', count: 2 },
]

test('every kind of work is in it, and no code, command, input, path, variable or credential', async () => {
  using folder = new LogFolder()
  {
    await using log = folder.open()
    for (const work of kinds) await log.record({ work, end: { outcome: 'done' }, wallMs: 5 })
    const refused = { outcome: 'refused', code: 'QUEUE_FULL' } as const
    await log.record({ ...recordOf({ spec: { code: marker } }), end: refused })
  }
  const text = readFileSync(folder.file, 'utf8')
  assert.ok(!text.includes(marker))
  const records = folder.lines.map((line) => JSON.parse(line) as Entry)
  assert.deepEqual(
    records.map(({ statement: { kind, id } }) => [kind, id]),
    [...kinds.map(({ kind, id }) => [kind, id]), ['run', 'one']],
  )
  const [run, snippet, command] = records.map(({ statement }) => statement)
  // Computed with sha256sum.
  assert.deepEqual(run?.stdin, {
    sha256: '543d826de74291cb4e8279f13fbf2cf58113b3729555d1e23cb13f6c9c6bdb13',
    bytes: marker.length,
  })
  assert.equal(snippet?.protection, 'wasm')
  assert.deepEqual([command?.credentials, command?.code?.bytes], [1, 18])
  assert.equal(records.at(-1)?.statement.error, 'QUEUE_FULL')
  assert.deepEqual(
    records.map(({ client }) => client).filter((client) => client !== undefined),
    ['ada'],
  )
})

/** A file whose writes can be made to fail. */
class BreakableFile {
  isBroken = false
  isOpen = false
  readonly written: string[] = []
  readonly lost: number[] = []

  async open(): Promise<void> {
    this.isOpen = true
  }

  async append(entries: readonly Entry[], lost: number): Promise<void> {
    if (this.isBroken) throw new Error('the disk is full')
    this.written.push(...entries.map(({ statement }) => statement.id))
    this.lost.push(lost)
  }

  close(): void {
    this.isOpen = false
  }
}

describe('a log that cannot be written', () => {
  test('refuses work that cannot be recorded and new work, reports it once, and writes the records later', async () => {
    using folder = new LogFolder()
    const file = new BreakableFile()
    const failures: LazaretError[] = []
    await using log = folder.open({ file, onFailed: (failure) => failures.push(failure) })
    await log.ready()
    file.isBroken = true
    const refusal = { code: 'AUDIT_FAILED', message: /the disk is full/ }
    await assert.rejects(log.record(recordOf({ id: 'a' })), refusal)
    await assert.rejects(log.ready(), refusal)
    await assert.rejects(log.record(recordOf({ id: 'b' })), refusal)
    assert.equal(failures.length, 1)
    file.isBroken = false
    await log.ready()
    await log.record(recordOf({ id: 'c' }))
    assert.deepEqual(file.written, ['a', 'b', 'c'])
    file.isBroken = true
    await assert.rejects(log.record(recordOf({ id: 'd' })), refusal)
    assert.equal(failures.length, 2)
  })

  test('does not delay work if the operator chooses so', async () => {
    using folder = new LogFolder()
    const file = new BreakableFile()
    file.isBroken = true
    const failures: LazaretError[] = []
    await using log = folder.open({
      file,
      onFailure: 'continue',
      onFailed: (failure) => failures.push(failure),
    })
    await log.ready()
    await log.record(recordOf({ id: 'a' }))
    await new Promise(setImmediate)
    assert.equal(failures.length, 1)
    file.isBroken = false
    await log.record(recordOf({ id: 'b' }))
    await new Promise(setImmediate)
    assert.deepEqual(file.written, ['a', 'b'])
  })

  test('counts records that no longer fit into its buffer', async () => {
    using folder = new LogFolder()
    const file = new BreakableFile()
    file.isBroken = true
    await using log = folder.open({ file, onFailure: 'continue' })
    const one = recordOf()
    for (let index = 0; index < 10_003; index++) void log.record(one)
    await new Promise(setImmediate)
    file.isBroken = false
    await log.ready()
    await log[Symbol.asyncDispose]()
    assert.equal(file.written.length, 10_000)
    assert.deepEqual([file.lost[0], file.lost.at(-1)], [3, 0])
  })
})
