/** Displays of code contexts that change: updates, clearing, and the events for both. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { describeContexts, valueOf } from './use-contexts.ts'

const plain = (content: string) => ({ 'text/plain': content })

await describeContexts(
  (sandbox) => {
    test('python: a handle replaces its display', async () => {
      const received: unknown[] = []
      const { displays } = await sandbox.runCode(
        'h = display("one", display_id="place")\ndisplay("other")\nh.update("two")\nupdate_display("three", display_id="place")\nh.display_id',
        { onResult: (bundle, facts) => void received.push([bundle['text/plain'], facts]) },
      )
      assert.deepEqual(displays, [plain("'three'"), plain("'other'")])
      assert.deepEqual(received, [
        ["'one'", { displayId: 'place' }],
        ["'other'", {}],
        ["'two'", { displayId: 'place', isUpdate: true }],
        ["'three'", { displayId: 'place', isUpdate: true }],
      ])
    })

    test('python: an update of an earlier display is reported as an update, and belongs to the result of this code', async () => {
      await valueOf(sandbox.runCode('h = display("one", display_id=True)'))
      const { displays } = await sandbox.runCode('h.update("two")')
      assert.deepEqual(displays, [plain("'two'")])
      const failed = await sandbox.runCode('display(1, update=True)')
      assert.match(failed.stderr, /display_id is required/)
    })

    test('python: clear_output() removes displays, at once or with the next display', async () => {
      const cleared: boolean[] = []
      const asked = { onClear: (waits: boolean) => void cleared.push(waits) }
      const now = await sandbox.runCode('display(1); clear_output(); display(2)', asked)
      assert.deepEqual(now.displays, [plain('2')])
      const later = await sandbox.runCode(
        'display(1); clear_output(wait=True); display(2); display(3)',
        asked,
      )
      assert.deepEqual(later.displays, [plain('2'), plain('3')])
      const never = await sandbox.runCode('display(1); clear_output(wait=True)', asked)
      assert.deepEqual(never.displays, [plain('1')])
      assert.deepEqual(cleared, [false, true, true])
    })

    test('javascript: display() with an id, an update, and clearOutput()', async () => {
      const language = 'javascript'
      const updated = await sandbox.runCode(
        'display("one", { display_id: "place" }); display(2); display({ [Symbol.for("Jupyter.display")]: () => ({ "text/html": "<b>" }) }, { display_id: "place", update: true })',
        { language },
      )
      assert.deepEqual(updated.displays, [{ 'text/html': '<b>' }, plain('2')])
      const cleared = await sandbox.runCode(
        'display(1); clearOutput(); display(2); clearOutput({ wait: true }); display(3)',
        { language },
      )
      assert.deepEqual(cleared.displays, [plain('3')])
    })

    for (const [language, code] of [
      [
        'python',
        'for n in range(30): display({"text/html": "x" * 40000}, raw=True, display_id="p", update=n > 0)\ndisplay("end")',
      ],
      [
        'python',
        'for n in range(30): clear_output(wait=n % 2 == 0); display({"text/html": "x" * 40000}, raw=True)\ndisplay("end")',
      ],
      [
        'javascript',
        'for (let n = 0; n < 30; n++) display({ "text/html": "x".repeat(40000) }, { raw: true, display_id: "p", update: n > 0 }); display("end")',
      ],
    ] as const)
      test(`${language}: an updated display counts only once (${code.slice(0, 30)}…)`, async () => {
        const { displays, truncated, outcome } = await sandbox.runCode(code, { language })
        assert.deepEqual([outcome.kind, truncated], ['completed', []])
        assert.equal(displays.length, 2)
        assert.equal(displays[0]?.['text/html']?.length, 40_000)
      })

    test('an id is bounded, and endless displays are cut, which the result reports', async () => {
      const long = await sandbox.runCode('display(1, display_id="x" * 10_000)')
      assert.deepEqual(long.displays, [plain('1')])
      const { displays, truncated } = await sandbox.runCode(
        'for n in range(100): display({"text/html": "x" * 4000}, raw=True, display_id=n)',
      )
      assert.deepEqual(truncated, ['displays'])
      assert.ok(displays.length > 5 && displays.length < 20, String(displays.length))
    })
  },
  { lazaret: { ceilings: { resultBytes: 64 * 1024 } } },
)
