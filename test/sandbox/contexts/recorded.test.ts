/** Code contexts and their code are work like any other: admitted, reported, recorded and signed. */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'

import type { LazaretEvent, Work } from '../../../src/index.ts'
import { createReceiptKeys, verifyAudit, verifyReceipt } from '../../../src/observe/index.ts'
import { describeContexts } from './use-contexts.ts'

const folder = mkdtempSync(join(tmpdir(), 'lazaret-context-records-'))
after(() => rmSync(folder, { recursive: true, force: true }))
const keys = createReceiptKeys()
const privateKeyFile = join(folder, 'key.pem')
writeFileSync(privateKeyFile, keys.privateKey, { mode: 0o600 })
const file = join(folder, 'audit.jsonl')
const events: LazaretEvent[] = []
const asked: Work[] = []

const options = {
  receipts: { privateKeyFile },
  audit: { file },
  onEvent: (event: LazaretEvent) => void events.push(event),
  admit: (work: Work) => {
    asked.push(work)
    if (work.kind === 'code' && work.code.includes('forbidden')) throw new Error('not this')
  },
}

await describeContexts(
  (sandbox) => {
    test('a context and its code are reported, with how they ended', async () => {
      const context = await sandbox.createCodeContext({ id: 'told' })
      events.length = 0
      await context.runCode('1 + 1')
      await context.runCode('import os; os._exit(3)')
      await assert.rejects(context.runCode('forbidden'), { code: 'NOT_ADMITTED', message: /not this/ })
      const ended = events.flatMap((event) =>
        event.type === 'work-ended'
          ? [[event.kind, event.outcome, event.sandbox, event.context, event.language]]
          : [],
      )
      assert.deepEqual(ended, [
        ['code', 'completed', sandbox.id, 'told', 'python'],
        ['code', 'completed', sandbox.id, 'told', 'python'],
        ['code', 'refused', sandbox.id, 'told', 'python'],
      ])
      await context.restart()
      const { kind, outcome } = events.findLast(({ type }) => type === 'work-ended') as LazaretEvent & {
        readonly type: 'work-ended'
      }
      assert.deepEqual([kind, outcome], ['context', 'done'])
      await sandbox.deleteCodeContext('told')
    })

    test('the policy gets the request as plain data', async () => {
      const context = await sandbox.createCodeContext({ language: 'javascript' })
      await context.runCode('6 * 7')
      const [created, ran] = asked.slice(-2)
      assert.deepEqual(
        [created?.kind, created?.kind === 'context' && created.language],
        ['context', 'javascript'],
      )
      assert.deepEqual(
        [ran?.kind, ran?.kind === 'code' && ran.code, ran?.kind === 'code' && ran.context],
        ['code', '6 * 7', context.id],
      )
      assert.deepEqual(structuredClone(asked), asked)
      await sandbox.deleteCodeContext(context.id)
    })

    test('a result has a receipt, which is signed and in the audit log', async () => {
      const result = await sandbox.runCode('print("hello")\n7', { timeout: 60_000 })
      const { receipt } = result
      assert.deepEqual([receipt.runtime, receipt.limits.wallMs], ['python', { value: 60_000, by: 'host' }])
      assert.ok(receipt.layers.includes('seccomp') && receipt.layers.includes('pid-namespace'))
      assert.notEqual(receipt.limits.memoryBytes.by, 'none')
      for (const name of ['codeBytes', 'functionMs', 'resultBytes'] as const)
        assert.equal(receipt.limits[name].by, 'host')
      assert.equal(receipt.observed['NoNewPrivs'], '1')
      const document = JSON.parse(JSON.stringify(result)) as Record<string, unknown>
      assert.deepEqual([document['context'], document['isStateKept']], [result.context, true])
      const verification = verifyReceipt(JSON.stringify(result), keys.publicKey)
      assert.ok(verification.isValid)
      const { id, kind, language, context, sandbox: place, runtimeVersion = '' } = verification.statement
      assert.deepEqual(
        [id, kind, language, context, place],
        [result.id, 'code', 'python', result.context, sandbox.id],
      )
      assert.match(runtimeVersion, /^(Python )?3\./)
      const lines = readFileSync(file, 'utf8').trimEnd().split('\n')
      assert.ok(verifyReceipt(lines.at(-1), keys.publicKey).isValid)
      assert.deepEqual((await verifyAudit(file, { publicKey: keys.publicKey })).problems, [])
    })
  },
  { lazaret: options },
)
