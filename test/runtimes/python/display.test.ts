/** `display()` and objects that offer more than text. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { displaysOf, errorOf, valueOf } from './expect-guest.ts'
import { runGuest } from './guest-process.ts'

const show = 'class Rich:\n    def __repr__(self): return "rich"\n'

const offers: readonly (readonly [method: string, bundle: Record<string, string>])[] = [
  ['def _repr_html_(self): return "<b>"', { 'text/html': '<b>' }],
  ['def _repr_markdown_(self): return "*m*", {"meta": 1}', { 'text/markdown': '*m*' }],
  ['def _repr_svg_(self): return b"<svg/>"', { 'image/svg+xml': '<svg/>' }],
  ['def _repr_png_(self): return b"\\x89PNG"', { 'image/png': 'iVBORw==' }],
  ['def _repr_jpeg_(self): return "base64"', { 'image/jpeg': 'base64' }],
  ['def _repr_latex_(self): return "$x$"', { 'text/latex': '$x$' }],
  ['def _repr_json_(self): return {"a": [1]}', { 'application/json': '{"a": [1]}' }],
  ['def _repr_html_(self): return None', {}],
  ['def _repr_html_(self): raise ValueError', {}],
  ['_repr_html_ = 5', {}],
  [
    'def _repr_mimebundle_(self, include, exclude): return {"text/html": "mine", "text/plain": "own", 5: "x"}\n    def _repr_html_(self): return "other"',
    { 'text/plain': 'own', 'text/html': 'mine' },
  ],
]

suite('displays of Python programs', { concurrency: 4 }, () => {
  for (const [method, bundle] of offers) {
    test(`an object with ${JSON.stringify(method)} is shown with display() and as a value`, async () => {
      const run = await runGuest(`${show}    ${method}\ndisplay(Rich())\nRich()`)
      const expected = { 'text/plain': 'rich', ...bundle }
      // The value itself already has the text.
      const hasMore = Object.keys(expected).length > 1
      assert.deepEqual(displaysOf(run), hasMore ? [expected, expected] : [expected])
      assert.deepEqual(valueOf(run).value, { $type: 'Unserializable', text: 'rich' })
    })
  }

  test('display() shows several objects, plain ones as their text, and prints nothing', async () => {
    const run = await runGuest('display("a", [1], None)\ndisplay()')
    assert.deepEqual(displaysOf(run), [
      { 'text/plain': "'a'" },
      { 'text/plain': '[1]' },
      { 'text/plain': 'None' },
    ])
    assert.equal(run.stdout, '')
  })

  test('a class, and an object that answers to every name, are not rich', async () => {
    const run = await runGuest(
      `${show}    def _repr_html_(self): return "<b>"\nfrom unittest.mock import MagicMock\n[Rich, MagicMock()][0]`,
    )
    assert.deepEqual(displaysOf(run), [])
    assert.deepEqual(displaysOf(await runGuest('from unittest.mock import MagicMock\nMagicMock()')), [])
  })

  test('displays have one budget; displays beyond it are left out and marked', async () => {
    const run = await runGuest('display("a" * 10)\ndisplay("b" * 300)\ndisplay("c")\n1', { resultBytes: 200 })
    const displays = run.messages.filter((message) => message.type === 'display')
    assert.equal(displays.length, 2)
    assert.deepEqual(displays[0], { type: 'display', bundle: { 'text/plain': `'${'a'.repeat(10)}'` } })
    assert.deepEqual(displays[1], { type: 'display', bundle: {}, truncated: true })
    assert.equal(valueOf(run).value, 1)
  })

  test('threads may display at the same time', async () => {
    const code = `
import threading
def work(name):
    for number in range(50):
        display(f"{name}{number}" * 1000)
threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
for thread in threads: thread.start()
for thread in threads: thread.join()`
    const shown = displaysOf(await runGuest(code, { resultBytes: 16 * 1024 * 1024 }))
    assert.equal(new Set(shown.map((bundle) => bundle['text/plain'])).size, 200)
  })

  test('a signal handler may display while the program does', async () => {
    const code = `
import signal
shown = 0
def handle(*_):
    global shown
    shown += 1
    display("handler")
    if shown < 20:
        signal.setitimer(signal.ITIMER_REAL, 0.0005)
signal.signal(signal.SIGALRM, handle)
signal.setitimer(signal.ITIMER_REAL, 0.0005)
while shown < 20:
    display("program")
shown`
    const run = await runGuest(code, { resultBytes: 16 * 1024 * 1024 })
    const handled = displaysOf(run).filter((bundle) => bundle['text/plain'] === "'handler'").length
    assert.equal(handled, 20)
    assert.equal(valueOf(run).value, 20)
  })

  test('sys.exit() inside a representation ends the program', async () => {
    const run = await runGuest(`${show}    def _repr_html_(self): raise SystemExit(4)\nRich()`)
    assert.equal(run.exitCode, 4)
    assert.equal(valueOf(run).text, 'rich')
    const failed = await runGuest('display(undefined_name)')
    assert.equal(errorOf(failed).name, 'NameError')
  })
})
