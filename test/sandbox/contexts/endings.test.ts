/** Code contexts that end, and are ended, at bad moments. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

import { LiveContext } from '../../../src/sandbox/contexts/code-context.ts'
import type { ContextParts } from '../../../src/sandbox/contexts/code-context.ts'
import type { Sandbox } from '../../../src/index.ts'
import { createLazaret } from '../../support/create-lazaret.ts'
import { describeContexts, valueOf } from './use-contexts.ts'

/**
 * Resolves when the last request to a context waits for its interpreter. The event loop does not turn meanwhile, so no
 * interpreter can have answered, however slow this process is.
 */
async function untilWaiting(sandbox: Sandbox, id: string): Promise<void> {
  for (let steps = 0; steps < 100; steps++) await Promise.resolve()
  assert.equal(sandbox.getCodeContext(id)?.status, 'running')
}

await describeContexts((sandbox) => {
  test('output callbacks are released when the code is over, although its interpreter continues', async () => {
    const context = await sandbox.createCodeContext()
    const run = async () => {
      const onStdout = (): void => undefined
      await context.runCode('print("x")', { onStdout })
      return new WeakRef(onStdout)
    }
    const result = await run()
    // The channel still refers to the last code.
    await valueOf(context.runCode('1'))
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    for (let n = 0; n < 20 && result.deref() !== undefined; n++) {
      await turn()
      collect()
    }
    assert.equal(result.deref(), undefined)
    await sandbox.deleteCodeContext(context.id)
  })

  const end = 'import os; os._exit(1)'
  /** Never ends by itself. */
  const endless = ['while True: pass', { timeout: null }] as const

  test('code that waits for an interpreter does not begin if its context is deleted', async () => {
    const context = await sandbox.createCodeContext()
    await context.runCode(end)
    const waiting = assert.rejects(context.runCode(...endless), { code: 'CONTEXT_GONE' })
    await untilWaiting(sandbox, context.id)
    assert.equal(await sandbox.deleteCodeContext(context.id), true)
    await waiting
  })

  test('code that waits for an interpreter does not begin if it is interrupted', async () => {
    const context = await sandbox.createCodeContext()
    await context.runCode(end)
    const waiting = context.runCode(...endless)
    await untilWaiting(sandbox, context.id)
    assert.equal(await context.interrupt(), true)
    assert.deepEqual((await waiting).outcome, { kind: 'cancelled' })
    assert.equal(await valueOf(context.runCode('1 + 1')), 2)
    await sandbox.deleteCodeContext(context.id)
  })

  test('code that waits for an interpreter does not begin if the context is restarted', async () => {
    const context = await sandbox.createCodeContext()
    await context.runCode(end)
    const waiting = context.runCode(...endless)
    await untilWaiting(sandbox, context.id)
    await context.restart()
    assert.deepEqual((await waiting).outcome, { kind: 'cancelled' })
    assert.equal(await valueOf(context.runCode('1 + 1')), 2)
    await sandbox.deleteCodeContext(context.id)
  })

  test('variables that are set while an interpreter starts have an effect', async () => {
    const context = await sandbox.createCodeContext()
    await context.runCode(end)
    const asked = context.runCode('import os; os.environ.get("SET_LATE")')
    await untilWaiting(sandbox, context.id)
    await sandbox.setEnvVars({ SET_LATE: 'yes' })
    assert.equal(await valueOf(asked), 'yes')
    await sandbox.deleteCodeContext(context.id)
  })

  test('a sandbox can be destroyed while code waits for an interpreter', async () => {
    await using lazaret = createLazaret({ onEvent: () => undefined })
    const other = await lazaret.sandbox()
    const context = await other.createCodeContext()
    await context.runCode(end)
    const waiting = context.runCode(...endless).catch((error: unknown) => error)
    await other.destroy()
    await waiting
  })

  test('code that runs when its context is deleted is killed, and its note says so', async () => {
    const context = await sandbox.createCodeContext()
    const began = Promise.withResolvers<void>()
    const running = context.runCode('print(1, flush=True)\nwhile True: pass', {
      timeout: null,
      onStdout: () => began.resolve(),
    })
    await began.promise
    await sandbox.deleteCodeContext(context.id)
    const { outcome, isStateKept, note } = await running
    assert.deepEqual([outcome.kind, isStateKept, note], ['killed', false, 'The context was deleted.'])
  })

  test('code that runs when its sandbox is destroyed gets SANDBOX_GONE', async () => {
    await using lazaret = createLazaret({ onEvent: () => undefined })
    const other = await lazaret.sandbox()
    const context = await other.createCodeContext()
    const began = Promise.withResolvers<void>()
    const running = context.runCode('print(1, flush=True)\nwhile True: pass', {
      timeout: null,
      onStdout: () => began.resolve(),
    })
    const gone = assert.rejects(running, { code: 'SANDBOX_GONE' })
    await began.promise
    await other.destroy()
    await gone
  })

  test('concurrent code gets the same default context, the first time and after it was deleted', async () => {
    const run = async () => {
      const results = await Promise.all([1, 2, 3].map((n) => sandbox.runCode(String(n))))
      return [...new Set(results.map(({ context }) => context))]
    }
    const [id = '', ...others] = await run()
    assert.deepEqual(others, [])
    await sandbox.deleteCodeContext(id)
    assert.equal((await run()).length, 1)
  })

  test('a program of earlier code that ran out of memory does not explain a later end', async () => {
    const context = await sandbox.createCodeContext({ limits: { memoryBytes: 128 * 1024 * 1024 } })
    const large = 'y = bytearray(2 ** 28)\nfor at in range(0, len(y), 4096): y[at] = 1'
    const run = `import os, subprocess, sys\nsubprocess.run([sys.executable, "-c", ${JSON.stringify(large)}]).returncode`
    const { outcome, value } = await context.runCode(run)
    // If the kernel does not count memory, the whole context ends with its program.
    if (outcome.kind !== 'out-of-memory') {
      assert.notEqual(value, 0)
      assert.deepEqual((await context.runCode('os._exit(1)')).outcome, { kind: 'completed', exitCode: 1 })
    }
    await sandbox.deleteCodeContext(context.id)
  })

  test('code that prints endlessly is interrupted long before its timeout', async () => {
    await using lazaret = createLazaret({ onEvent: () => undefined })
    await using other = await lazaret.sandbox({ limits: { outputBytes: 1000 } })
    const flood = 'x = 1\nwhile True: print("y" * 100000)'
    const { outcome, stdout, truncated } = await other.runCode(flood, { timeout: 300_000 })
    assert.deepEqual(outcome, { kind: 'limit-exceeded', limit: 'output', allowed: 1000 })
    assert.deepEqual([stdout.length, truncated[0]], [1000, 'stdout'])
    assert.equal((await other.runCode('2 ** 10')).value, 1024)
  })

  test('a context that is deleted while it starts frees its name', async () => {
    const first = assert.rejects(sandbox.createCodeContext({ id: 'same' }), { code: 'CONTEXT_GONE' })
    await untilWaiting(sandbox, 'same')
    const deleted = sandbox.deleteCodeContext('same')
    const second = await sandbox.createCodeContext({ id: 'same' })
    await first
    assert.equal(await deleted, true)
    assert.equal(await valueOf(second.runCode('1 + 1')), 2)
    assert.equal(await sandbox.deleteCodeContext('same'), true)
  })
})

test('memory that was reserved for a deleted context is released at once', async () => {
  const context = new LiveContext({ id: 'gone' } as ContextParts)
  await context.end()
  let given = 0
  context.keep(() => given++)
  assert.equal(given, 1)
})
