/** Signed receipts: the public key is enough to verify them, and every change is detected. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'

import { systemClock } from '../../src/core/clock.ts'
import type { RunResult } from '../../src/core/result.ts'
import type { RunWork } from '../../src/core/work.ts'
import { createLazaret } from '../support/create-lazaret.ts'
import { createReceiptKeys, verifyAudit, verifyReceipt } from '../../src/observe/index.ts'
import { Notary, SigningKey } from '../../src/observe/notary.ts'
import { checkoutRoot } from '../support/sources/checkout.ts'
import { medianOf } from './median-of.ts'

const folder = mkdtempSync(join(tmpdir(), 'lazaret-receipts-'))
after(() => rmSync(folder, { recursive: true, force: true }))
const keys = createReceiptKeys()
const privateKeyFile = join(folder, 'key.pem')
writeFileSync(privateKeyFile, keys.privateKey, { mode: 0o600 })
const audit = { file: join(folder, 'audit.jsonl') }

const lazaret = createLazaret({ receipts: { privateKeyFile }, audit, onEvent: () => undefined })
after(() => lazaret[Symbol.asyncDispose]())
const result = await lazaret.run({
  language: 'shell',
  code: 'echo hello; exit 3',
  client: 'wilhelmina',
  input: { a: 1 },
  stdin: 'in',
})
const signature = result.receipt.signature
assert.ok(signature)

test('the signature covers the program, the outcome and the layers of a run', () => {
  const verification = verifyReceipt(result, keys.publicKey)
  assert.ok(verification.isValid)
  const { statement } = verification
  assert.deepEqual(
    [statement.id, statement.outcome, statement.exitCode, statement.clientClass, statement.code?.bytes],
    [result.id, 'completed', 3, 'named', 18],
  )
  const { signature: _, ...receipt } = result.receipt
  assert.deepEqual(statement.receipt, receipt)
  assert.deepEqual(statement.usage, result.usage)
  assert.match(statement.runtimeVersion ?? '', /bash/)
  assert.ok(!JSON.stringify(statement).includes('wilhelmina'))
})

test('a result, its receipt, its signature or its line in the audit log can be verified', async () => {
  const [line = ''] = readFileSync(audit.file, 'utf8').split('\n')
  const documents = [result, result.receipt, signature, JSON.parse(line) as unknown]
  for (const document of documents)
    for (const form of [document, JSON.stringify(document)])
      assert.ok(verifyReceipt(form, keys.publicKey).isValid)
  assert.equal((await verifyAudit(audit.file, { publicKey: keys.publicKey })).signatures, 1)
  const others = await verifyAudit(audit.file, { publicKey: createReceiptKeys().publicKey })
  assert.deepEqual(others.problems, [{ line: 1, what: 'a signature that is not by this key' }])
})

/** For each part of the value, a copy with that part changed, and one without it. */
function* changesOf(value: unknown, path = ''): Generator<{ path: string; changed: unknown }> {
  if (Array.isArray(value)) {
    for (const [index, one] of value.entries()) {
      yield { path: `${path}[${index}] removed`, changed: value.toSpliced(index, 1) }
      for (const { path: at, changed } of changesOf(one, `${path}[${index}]`))
        yield { path: at, changed: value.with(index, changed) }
    }
    yield { path: `${path} added`, changed: [...(value as unknown[]), 'x'] }
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, member] of Object.entries(value)) {
      const { [key]: _, ...rest } = value as Record<string, unknown>
      yield { path: `${path}.${key} removed`, changed: rest }
      for (const { path: at, changed } of changesOf(member, `${path}.${key}`))
        yield { path: at, changed: { ...value, [key]: changed } }
    }
    yield { path: `${path} added`, changed: { ...value, added: 1 } }
  } else yield { path, changed: typeof value === 'number' ? value + 1 : `${String(value)}x` }
}

test('every changed field is detected, inside and outside the signature', () => {
  const { outcome, usage, receipt, id } = result
  const changes = [...changesOf({ id, outcome, usage, receipt })]
  assert.ok(changes.length > 300, `${changes.length}`)
  // These changes have no meaning: the signature covers only named parts of the result, and further members are
  // ignored.
  const free = new Set([' added', '.outcome added', '.receipt.signature added'])
  const missed = changes
    .filter(({ path }) => !free.has(path))
    .filter(({ changed }) => verifyReceipt(changed, keys.publicKey).isValid)
  assert.deepEqual(
    missed.map(({ path }) => path),
    [],
  )
})

test('no added member makes a result or a receipt valid without a comparison', () => {
  const { outcome, usage, receipt, id } = result
  const others = [1, {}, [], signature.statement, signature, receipt, result]
  const forged = { outcome: { ...outcome, exitCode: 0 }, usage, receipt, id }
  const layers = { ...receipt, layers: ['everything'] }
  const documents = others.flatMap((other) => [
    { ...forged, statement: other },
    { ...forged, signature: other, statement: other },
    { ...forged, id, receipt: { ...receipt, statement: other } },
    { ...forged, receipt: { receipt, statement: other } },
    { ...layers, statement: other },
    { outcome, usage, id, receipt: { ...layers, statement: other } },
  ])
  assert.deepEqual(
    documents.filter((document) => verifyReceipt(JSON.stringify(document), keys.publicKey).isValid),
    [],
  )
})

test('a result that claims success is valid only if the signature says so', () => {
  assert.ok(verifyReceipt(JSON.stringify(result), keys.publicKey).isValid)
  assert.deepEqual(verifyReceipt({ ...result, ok: true }, keys.publicKey), {
    isValid: false,
    reason: '`ok` is not what the signature states',
  })
})

test('anything but a signed receipt is not valid', () => {
  const unsigned = { ...result.receipt, signature: undefined }
  for (const document of [undefined, null, 1, 'x', '{', [], {}, { receipt: 1 }, { signature: 1 }, unsigned])
    assert.equal(verifyReceipt(document, keys.publicKey).isValid, false)
  assert.equal(verifyReceipt(result, createReceiptKeys().publicKey).isValid, false)
  assert.throws(() => verifyReceipt(result, 'no key'), TypeError)
})

const work: RunWork = {
  kind: 'run',
  id: 'one',
  client: 'wilhelmina',
  runtime: 'shell',
  limits: {},
  spec: { code: 'echo hello', language: 'shell', input: { a: 1 } },
}

function makeNotary(): Notary {
  const key = new SigningKey(keys.privateKey)
  return new Notary({ clock: systemClock, key, versionOf: async () => '5.2' })
}

const { signature: _, ...receipt } = result.receipt
const unsigned: RunResult = { ...result, receipt }

test('another process verifies a thousand with the public key and without an engine', async () => {
  const notary = makeNotary()
  const lines: string[] = []
  for (let index = 0; index < 1000; index++) {
    const attested = await notary
      .note({ ...work, id: `run-${index}` })
      .attest({ ...unsigned, id: `run-${index}` })
    lines.push(JSON.stringify(attested.result.receipt.signature))
  }
  const file = join(folder, 'receipts.jsonl')
  writeFileSync(file, lines.join('\n'))
  writeFileSync(join(folder, 'key.pub'), keys.publicKey)
  const program = `
    import { readFileSync } from 'node:fs'
    import { registerHooks } from 'node:module'
    const loaded = []
    registerHooks({ resolve: (name, context, next) => { const found = next(name, context); loaded.push(found.url); return found } })
    const { verifyReceipt } = await import(${JSON.stringify(join(checkoutRoot, 'src/observe/index.ts'))})
    const key = readFileSync(${JSON.stringify(join(folder, 'key.pub'))})
    const lines = readFileSync(${JSON.stringify(file)}, 'utf8').split('\\n')
    const valid = lines.filter((line) => verifyReceipt(line, key).isValid).length
    const strangers = loaded.filter((url) => !/^node:|src\\/(observe|core)\\//.test(url))
    console.log(JSON.stringify({ valid, strangers }))`
  const ran = spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' })
  assert.deepEqual(JSON.parse(ran.stdout), { valid: 1000, strangers: [] }, ran.stderr)
})

test('recording and signing a run takes a fraction of a millisecond', async () => {
  const notary = makeNotary()
  const times: number[] = []
  for (let index = 0; index < 1000; index++) {
    const begun = systemClock.now()
    await notary.note(work).attest(unsigned)
    times.push(systemClock.now() - begun)
  }
  // The goal is 0.1 ms. The test allows more, because other tests share the processors.
  assert.ok(medianOf(times) < 0.3, `${medianOf(times)} ms`)
})

test('a key that others can read, or an invalid one, is refused', () => {
  for (const [text, mode, message] of [
    [keys.privateKey, 0o644, /chmod 600/],
    ['no key', 0o600, /privateKeyFile/],
    [keys.publicKey, 0o600, /privateKeyFile/],
  ] as const) {
    const file = join(folder, 'bad.pem')
    writeFileSync(file, text)
    chmodSync(file, mode)
    assert.throws(() => createLazaret({ receipts: { privateKeyFile: file } }), {
      code: 'INVALID_REQUEST',
      message,
    })
  }
})
