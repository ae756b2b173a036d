/** Fifty contexts at one time: each has its own state, and nothing of them remains after their sandbox. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { CodeContext } from '../../../src/index.ts'
import { useLazaret } from '../../support/use-lazaret.ts'
import { valueOf } from './use-contexts.ts'

const MiB = 1024 * 1024
const count = 50
/** As many interpreters of Node as a small machine can run at one time. */
const javascriptEvery = 5

const { lazaret, leaks, level } = await useLazaret({ queue: { memoryTotalBytes: 2 ** 40 } })

/** Stays alive after its program has ended, and so never ends by itself. */
const endless = {
  python: 'import subprocess\nprint("ready")\nsubprocess.run(["sleep", "600"])\nwhile True: pass',
  javascript: 'console.log("ready"); require("node:child_process").spawnSync("sleep", ["600"]); for (;;);',
} as const

test('fifty contexts have separate states, and end with their sandbox while all of them run', async () => {
  await using sandbox = await lazaret.sandbox()
  if (level === 'restricted') {
    await assert.rejects(sandbox.createCodeContext(), { code: 'JAIL_UNAVAILABLE' })
    return
  }
  const create = (_: unknown, at: number) =>
    sandbox.createCodeContext({
      language: at % javascriptEvery === 0 ? 'javascript' : 'python',
      limits: { memoryBytes: 128 * MiB },
    })
  const contexts = await Promise.all(Array.from({ length: count }, create))
  assert.equal(sandbox.listCodeContexts().length, count)
  const each = <T>(act: (context: CodeContext, at: number) => Promise<T>) => Promise.all(contexts.map(act))
  await each((context, at) => valueOf(context.runCode(`x = ${at}`)))
  const values = await each((context) => valueOf(context.runCode('x * 2')))
  assert.deepEqual(
    values,
    contexts.map((_, at) => at * 2),
  )
  const ended: Promise<unknown>[] = []
  await each(async (context) => {
    const ready = Promise.withResolvers<void>()
    const code = endless[context.language === 'python' ? 'python' : 'javascript']
    const running = context.runCode(code, { timeout: null, onStdout: () => ready.resolve() })
    ended.push(running.catch((error: unknown) => error))
    await ready.promise
  })
  const { receipt } = await sandbox.exec('true')
  leaks.noteNamespace(receipt.observed['ns_pid'])
  await sandbox.destroy()
  await Promise.all(ended)
  assert.deepEqual(
    contexts.map(({ status }) => status),
    contexts.map(() => 'gone'),
  )
  // Processes, folders, cgroups, mounts and descriptors, while the Lazaret still exists.
  await leaks.check()
})
