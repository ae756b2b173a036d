/** The receipt of a command, and the limits that its sandbox reports. */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'

import { createReceiptKeys, verifyAudit, verifyReceipt } from '../../../src/observe/index.ts'
import { createLazaret } from '../../support/create-lazaret.ts'
import { LeakCheck } from '../../support/machine/leaks.ts'

const MiB = 1024 * 1024
const folder = mkdtempSync(join(tmpdir(), 'lazaret-command-receipts-'))
const keys = createReceiptKeys()
const privateKeyFile = join(folder, 'key.pem')
writeFileSync(privateKeyFile, keys.privateKey, { mode: 0o600 })
const file = join(folder, 'audit.jsonl')

const leaks = new LeakCheck()
await leaks.takeBaseline()
const lazaret = createLazaret({
  receipts: { privateKeyFile },
  audit: { file },
  defaults: { wallMs: 60_000, openFilesMax: 2048 },
  ceilings: { wallMs: 10_000, processesMax: 100, openFilesMax: 512 },
  onEvent: () => undefined,
})
const sandbox = await lazaret.sandbox({
  limits: { memoryBytes: 256 * MiB, outputBytes: 10_000, openFilesMax: 64 },
})
after(async () => {
  await lazaret[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
  await leaks.checkDisposed()
})

test('a receipt names the layers of a command, its limits and what enforced them', async () => {
  const first = await sandbox.exec('true')
  const { receipt, isolation } = await sandbox.exec('ulimit -n', { timeout: 5000 })
  assert.deepEqual([first.receipt.start, receipt.start, receipt.runtime], ['cold', 'parked', 'shell'])
  assert.equal(receipt.protection, isolation.level)
  assert.ok(receipt.layers.includes('seccomp'), receipt.layers.join())
  assert.deepEqual([receipt.observed['NoNewPrivs'], receipt.observed['Seccomp']], ['1', '2'])
  const { wallMs, cpuMs, openFilesMax, outputBytes, memoryBytes } = receipt.limits
  assert.deepEqual(wallMs, { value: 5000, by: 'host' })
  assert.deepEqual(cpuMs, { value: null, by: 'none' })
  assert.deepEqual(openFilesMax, { value: 64, by: 'rlimit' })
  assert.deepEqual(outputBytes, { value: 10_000, by: 'cell' })
  assert.deepEqual([memoryBytes.value, memoryBytes.by === 'none'], [256 * MiB, false])
  assert.deepEqual((await sandbox.exec(':', { timeout: null })).receipt.limits.wallMs, {
    value: null,
    by: 'none',
  })
})

test('it is signed, and the audit log has the signed statement', async () => {
  const result = await sandbox.exec('echo hello; exit 3')
  const verification = verifyReceipt(JSON.stringify(result), keys.publicKey)
  assert.ok(verification.isValid)
  const { id, kind, outcome, exitCode, sandbox: place, runtimeVersion = '' } = verification.statement
  assert.deepEqual([id, kind, outcome, exitCode, place], [result.id, 'command', 'completed', 3, sandbox.id])
  assert.match(runtimeVersion, /bash/)
  assert.equal(verifyReceipt({ ...result, id: 'another' }, keys.publicKey).isValid, false)
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n')
  assert.ok(verifyReceipt(lines.at(-1), keys.publicKey).isValid)
  assert.deepEqual((await verifyAudit(file, { publicKey: keys.publicKey })).problems, [])
})

test('a command that was cancelled before it began has no layers in its receipt', async () => {
  const { outcome, receipt } = await sandbox.exec('true', { signal: AbortSignal.abort() })
  assert.deepEqual([outcome.kind, receipt.layers, receipt.limits.memoryBytes.by], ['cancelled', [], 'none'])
})

test('a sandbox reports its limits, and which requested or default limits were lowered', async () => {
  assert.deepEqual(sandbox.limits, {
    memoryBytes: 256 * MiB,
    processesMax: 100,
    openFilesMax: 64,
    diskBytes: 128 * MiB,
    outputBytes: 10_000,
    inputBytes: 16 * MiB,
  })
  assert.deepEqual(sandbox.clamped, [
    { limit: 'processesMax', wanted: 1024, held: 100, of: 'default', by: 'ceiling' },
    { limit: 'diskBytes', wanted: 2048 * MiB, held: 128 * MiB, of: 'default', by: 'memory' },
  ])
  assert.deepEqual((await sandbox.exec(':')).receipt.clamped, ['processesMax', 'diskBytes'])
  await using asked = await lazaret.sandbox({ limits: { openFilesMax: 1000 } })
  assert.deepEqual(asked.clamped.at(1), {
    ...{ limit: 'openFilesMax', wanted: 1000, held: 512 },
    ...{ of: 'request', by: 'ceiling' },
  })
})

test('a Lazaret reports which of its defaults are above its ceilings', () => {
  assert.deepEqual(lazaret.clamped, [
    { limit: 'wallMs', wanted: 60_000, held: 10_000, of: 'default', by: 'ceiling' },
    { limit: 'openFilesMax', wanted: 2048, held: 512, of: 'default', by: 'ceiling' },
  ])
})
