/** Console calls of code contexts as they happen: each once, in order, and no faster than the caller takes them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { LogEntry, MimeBundle } from '../../../src/index.ts'
import { eventually } from '../../support/eventually.ts'
import { describeContexts, valueOf } from './use-contexts.ts'

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve))

await describeContexts((sandbox) => {
  for (const language of ['javascript', 'typescript'] as const)
    test(`${language}: each console call is reported while the code runs, and is in the result, too`, async () => {
      const received: LogEntry[] = []
      const onLog = (entry: LogEntry) => void received.push(entry)
      const more = async () => {
        await eventually(
          () => (received.length === 2 ? undefined : `${received.length} were received`),
          10_000,
        )
      }
      const context = await sandbox.createCodeContext({ language, functions: { more } })
      const code = "console.log('one'); console.warn('two'); await more(); console.error('three')"
      const { logs, outcome, stderr } = await context.runCode(code, { onLog })
      assert.equal(outcome.kind, 'completed', stderr)
      assert.deepEqual(received, logs)
      assert.deepEqual(
        received.splice(0).map(({ level, text }) => [level, text]),
        [
          ['log', 'one'],
          ['warn', 'two'],
          ['error', 'three'],
        ],
      )
      await context.runCode("console.info('not of the code before')", { onLog })
      assert.deepEqual(
        received.map(({ text }) => text),
        ['not of the code before'],
      )
      await sandbox.deleteCodeContext(context.id)
    })

  test('logs and displays are reported one at a time, in the order of the code', async () => {
    const received: unknown[] = []
    let isBusy = false
    const take = async (what: unknown): Promise<void> => {
      assert.equal(isBusy, false, 'called again while a promise was pending')
      isBusy = true
      for (let turn = 0; turn < 3; turn++) await nextTurn()
      received.push(what)
      isBusy = false
    }
    const code = "console.log('a'); display('b'); console.log('c'); clearOutput(); display('d')"
    await valueOf(
      sandbox.runCode(code, {
        language: 'javascript',
        onLog: ({ text }: LogEntry) => take(text),
        onResult: (bundle: MimeBundle) => take(bundle['text/plain']),
        onClear: () => take('cleared'),
      }),
    )
    assert.deepEqual(received, ['a', "'b'", 'c', 'cleared', "'d'"])
  })

  test('an error of onLog rejects runCode(), and the context keeps its state', async () => {
    const code =
      "let kept = 7; console.log('a'); await new Promise((resolve) => setTimeout(resolve, 600_000))"
    const mistake = new Error('of the caller')
    const fail = () => assert.fail(mistake)
    for (const onLog of [fail, () => Promise.reject(mistake)])
      await assert.rejects(sandbox.runCode(code, { language: 'javascript', onLog }), mistake)
    assert.equal(await valueOf(sandbox.runCode('kept', { language: 'javascript' })), 7)
    await assert.rejects(sandbox.runCode('1', { onLog: 1 as never }), {
      code: 'INVALID_REQUEST',
      message: /onLog: must be a function/,
    })
  })
})
