/** What earlier code prints or throws after its result arrives with later code, and is marked. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { describeContexts } from './use-contexts.ts'

const isMarked = /from earlier code/

await describeContexts((sandbox) => {
  for (const language of ['javascript', 'typescript'] as const)
    test(`${language}: late output and late errors are told apart from those of the code itself`, async () => {
      const context = await sandbox.createCodeContext({ language })
      const early = await context.runCode(
        'let go; new Promise((done) => { go = done }).then(() => { console.log("late"); throw new Error("failed late") }); 1',
      )
      assert.deepEqual([early.ok, early.value, early.note], [true, 1, undefined], early.stderr)
      const next = await context.runCode('go(); await new Promise((done) => setTimeout(done, 20)); "own"')
      assert.deepEqual([next.ok, next.value, next.stdout], [true, 'own', 'late\n'], next.stderr)
      assert.match(next.stderr, /^Uncaught in <code 1>, which had ended:\nError: failed late\n.*<code 1>:1:/)
      assert.match(next.note ?? '', isMarked)
      assert.match(next.toText(), isMarked)
      const last = await context.runCode('console.log("own")')
      assert.deepEqual([last.ok, last.stdout, last.note], [true, 'own\n', undefined], last.stderr)
      await sandbox.deleteCodeContext(context.id)
    })

  test('an uncaught error ends its code at once, even if that awaits what never comes', async () => {
    const context = await sandbox.createCodeContext({ language: 'javascript' })
    const code = 'setTimeout(() => { throw new Error("in a timer") }, 1)\nawait new Promise(() => {})'
    const { outcome, isStateKept } = await context.runCode(code)
    assert.equal(outcome.kind === 'failed' && outcome.error.message, 'in a timer')
    assert.equal(outcome.kind === 'failed' && outcome.error.line, 1)
    assert.ok(isStateKept)
    assert.equal((await context.runCode('1 + 1')).value, 2)
    await sandbox.deleteCodeContext(context.id)
  })
})
