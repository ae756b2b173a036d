/** Names that complete a typed text, found without running guest code. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { describeContexts, valueOf } from './use-contexts.ts'

await describeContexts((sandbox) => {
  test('python: names, attributes, keywords and built-ins', async () => {
    const context = await sandbox.createCodeContext()
    await valueOf(
      context.runCode(
        'import os\nrows_of_data = []\nclass Point:\n    def __init__(self): self.left = [1]\npoint = Point()',
      ),
    )
    const cases: [string, string[]][] = [
      ['rows_', ['rows_of_data']],
      ['x = rows_of_data.app', ['append']],
      ['os.path.spl', ['split', 'splitdrive', 'splitext']],
      ['point.le', ['left']],
      ['point.left.cop', ['copy']],
      ['Point.__ini', ['__init__', '__init_subclass__']],
      ['whil', ['while']],
      ['isinst', ['isinstance']],
      ['nothing.here', []],
      ['f().a', []],
    ]
    for (const [text, expected] of cases) {
      const matches = await context.complete(text)
      assert.deepEqual(
        expected.filter((name) => !matches.includes(name)),
        [],
        `${text}: ${matches.join()}`,
      )
      if (expected.length === 0) assert.deepEqual(matches, [])
    }
    assert.ok((await context.complete('')).length <= 100)
    await sandbox.deleteCodeContext(context.id)
  })

  test('python: completion runs no guest code', async () => {
    const context = await sandbox.createCodeContext()
    await valueOf(
      context.runCode(`ran = []
class Trap:
    def __getattr__(self, name): ran.append(name); return self
    def __dir__(self): ran.append("dir"); return ["trap"]
    @property
    def deep(self): ran.append("deep"); return self
    kept = 1
trap = Trap()`),
    )
    assert.deepEqual(await context.complete('trap.ke'), ['kept'])
    assert.deepEqual(await context.complete('trap.deep.ke'), [])
    assert.deepEqual(await context.complete('trap.other.ke'), [])
    assert.deepEqual(await valueOf(context.runCode('ran')), [])
    await sandbox.deleteCodeContext(context.id)
  })

  for (const language of ['javascript', 'typescript'] as const)
    test(`${language}: names and properties, and no getter is called`, async () => {
      const context = await sandbox.createCodeContext({ language })
      await valueOf(
        context.runCode(
          'let called = 0; const rowsOfData = [1]; class Point { left = { deep: 1 } }; const point = new Point(); const trap = { get here() { called++; return point } }; 1',
        ),
      )
      const complete = async (text: string) => [...(await context.complete(text))]
      assert.deepEqual(await complete('rowsOf'), ['rowsOfData'])
      assert.ok((await complete('x = rowsOfData.fla')).includes('flatMap'))
      assert.deepEqual(await complete('point.left.de'), ['deep'])
      assert.deepEqual(await complete('trap.her'), ['here'])
      assert.deepEqual(await complete('trap.here.le'), [])
      assert.deepEqual(await complete('nothing.le'), [])
      assert.deepEqual(await complete('f().le'), [])
      assert.ok((await complete('JSON.str')).includes('stringify'))
      assert.equal(await valueOf(context.runCode('called')), 0)
      await sandbox.deleteCodeContext(context.id)
    })

  test('none while code runs; forged answers are bounded; the state is kept', async () => {
    const context = await sandbox.createCodeContext()
    await valueOf(context.runCode('x = 1'))
    const started = Promise.withResolvers<void>()
    const running = context.runCode('print("ready")\nwhile True: pass', { onStdout: () => started.resolve() })
    await started.promise
    assert.deepEqual(await context.complete('x'), [])
    assert.equal(await context.interrupt(), true)
    await running
    await valueOf(
      context.runCode(
        'display.__globals__["load"]("complete").complete = lambda names, text: ["x" * 1000, "\\x1b[31m", *(["n"] * 1000)]',
      ),
    )
    const lies = await context.complete('x')
    assert.ok(lies.length <= 100 && lies.every((one) => one.length <= 200))
    await valueOf(
      context.runCode('display.__globals__["load"]("complete").complete = lambda names, text: 1 / 0'),
    )
    assert.deepEqual(await context.complete('x'), [])
    await valueOf(
      context.runCode(
        'def forever(names, text):\n    while True: pass\ndisplay.__globals__["load"]("complete").complete = forever',
      ),
    )
    assert.deepEqual(await context.complete('x'), [])
    assert.equal(await valueOf(context.runCode('x')), 1)
    await assert.rejects(context.complete(7 as never), { code: 'INVALID_REQUEST' })
    await sandbox.deleteCodeContext(context.id)
  })
})
