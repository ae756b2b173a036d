/** Callbacks of running code that wait for an event of the same code: none of them waits for ever. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { CodeContext, Sandbox } from '../../../src/index.ts'
import { createLazaret } from '../../support/create-lazaret.ts'
import { describeContexts, valueOf } from './use-contexts.ts'

const endless = 'print("ready", flush=True)\nimport time\nwhile True: time.sleep(0.1)'
const short = 'x = 1\nprint("ready")\nx'

/** Runs code whose callback waits for `act`, and returns the results of both. */
async function runWith<T>(context: CodeContext, code: string, act: () => Promise<T>) {
  let waited: Promise<T> | undefined
  const onStdout = async (): Promise<void> => {
    waited ??= act()
    await waited
  }
  const result = await context.runCode(code, { onStdout, timeout: null })
  return { result, answer: await waited }
}

await describeContexts((sandbox) => {
  for (const [what, code] of Object.entries({ 'runs on': endless, 'has ended': short })) {
    test(`restart() may be awaited in a callback of code that ${what}`, async () => {
      const context = await sandbox.createCodeContext()
      const { result } = await runWith(context, code, () => context.restart())
      assert.equal(result.outcome.kind, code === endless ? 'killed' : 'completed')
      assert.equal((await context.runCode('x')).outcome.kind, 'failed')
      await sandbox.deleteCodeContext(context.id)
    })

    test(`deleteCodeContext() may be awaited in a callback of code that ${what}`, async () => {
      const context = await sandbox.createCodeContext()
      const { answer } = await runWith(context, code, () => sandbox.deleteCodeContext(context.id))
      assert.deepEqual([answer, context.status], [true, 'gone'])
    })

    test(`destroy() may be awaited in a callback of code that ${what}`, async () => {
      await using lazaret = createLazaret()
      const own: Sandbox = await lazaret.sandbox()
      const context = await own.createCodeContext()
      const ended = Promise.withResolvers<void>()
      const onStdout = (): Promise<void> => own.destroy().then(ended.resolve)
      await assert.rejects(context.runCode(code, { onStdout, timeout: null }), { code: 'SANDBOX_GONE' })
      await ended.promise
    })
  }

  test('a callback of code that ends may await other code and a fork of the context', async () => {
    const context = await sandbox.createCodeContext()
    const { answer } = await runWith(context, short, () => valueOf(context.runCode('x + 1')))
    assert.equal(answer, 2)
    const { answer: fork } = await runWith(context, short, () => context.fork().catch(() => undefined))
    if (fork !== undefined) assert.equal(await valueOf(fork.runCode('x')), 1)
    await sandbox.deleteCodeContext(context.id)
  })

  test('a function that would wait for its caller for ever gets an error', async () => {
    const received: unknown[] = []
    const own = () => sandbox.getCodeContext('waiting')
    const note = (error: unknown): void => void received.push((error as { code?: string }).code)
    const functions = {
      other: () => own()?.runCode('1').catch(note),
      fork: () => own()?.fork().catch(note),
      later: () => void setImmediate(() => void own()?.runCode('x = 5')),
    }
    const context = await sandbox.createCodeContext({ id: 'waiting', functions })
    for (const call of ['other()', 'fork()', 'later()'])
      assert.equal((await context.runCode(call, { timeout: null })).outcome.kind, 'completed', call)
    assert.deepEqual(received, ['INVALID_REQUEST', 'INVALID_REQUEST'])
    while ((await context.runCode('x')).valueText !== '5') assert.ok(true)
    await sandbox.deleteCodeContext('waiting')
  })

  test('a function of the host may await the end of the code that calls it', async () => {
    const functions = {
      anew: () => sandbox.getCodeContext('called')?.restart(),
      away: () => sandbox.deleteCodeContext('called'),
    }
    const context = await sandbox.createCodeContext({ id: 'called', functions })
    for (const call of ['anew()', 'away()'])
      assert.equal((await context.runCode(call, { timeout: null })).outcome.kind, 'killed')
    await assert.rejects(context.runCode('1'), { code: 'CONTEXT_GONE' })
  })
})
