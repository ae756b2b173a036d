/** Libraries for charts show the same in every run and context, and a preloaded module prints nothing in later runs. */
import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'

import { createLazaret } from '../../support/create-lazaret.ts'
import { levelHere } from '../../support/machine/level-here.ts'
import { findPythonWith } from '../../support/machine/find-python.ts'
import { runParked } from '../../support/run-parked.ts'
import { noPools } from '../../support/use-lazaret.ts'
import { whyNoSandboxes } from '../../support/sandboxes-here.ts'

const root = mkdtempSync(join(tmpdir(), 'lazaret-libraries-'))
chmodSync(root, 0o755)
after(() => rmSync(root, { recursive: true, force: true }))

/** What plotly does to show a figure, with its names: the renderer of the environment, IPython and nbformat. */
mkdirSync(join(root, 'plotly/io'), { recursive: true })
writeFileSync(join(root, 'plotly/__init__.py'), '')
writeFileSync(
  join(root, 'plotly/io/_renderers.py'),
  `
import os
from types import SimpleNamespace
ipython_display = nbformat = None
renderers = SimpleNamespace(default=os.environ.get("PLOTLY_RENDERER", "browser"))
def show(figure):
    if renderers.default != "plotly_mimetype":
        return
    if not ipython_display:
        raise ValueError("Mime type rendering requires ipython but it is not installed")
    if not nbformat or nbformat.__version__ < "4.2.0":
        raise ValueError("Mime type rendering requires nbformat>=4.2.0 but it is not installed")
    ipython_display.display({"application/vnd.plotly.v1+json": figure}, raw=True)
`,
)
writeFileSync(join(root, 'plotly/io/__init__.py'), 'from ._renderers import renderers, show\n')
/** PIL shows an image with the first viewer that can. */
mkdirSync(join(root, 'PIL'))
writeFileSync(join(root, 'PIL/__init__.py'), '')
writeFileSync(
  join(root, 'PIL/ImageShow.py'),
  `
class Viewer: pass
class Window(Viewer):
    def show(self, image): raise OSError("no window")
_viewers = [Window()]
def register(viewer, order=1):
    _viewers.insert(0, viewer()) if order < 0 else _viewers.append(viewer())
def show(image): return any(viewer.show(image) for viewer in _viewers)
`,
)
writeFileSync(
  join(root, 'talkative.py'),
  `
import os, sys
print("from the import")
print("and", file=sys.stderr)
os.write(1, b"past the buffer")
os.write(2, b"past the buffer")
`,
)

const code = `import plotly.io, PIL.ImageShow
plotly.io.show('{"data": []}')
PIL.ImageShow.show("picture")`
const shown = ['application/vnd.plotly.v1+json', 'text/plain']
const python = (preload: readonly string[] = []) =>
  ({ language: 'python', code, ...(preload.length === 0 ? {} : { preload }) }) as const
const warm = { access: { preload: true }, pools: { ...noPools, python: { max: 1 } } }
const skip = (await levelHere()) === 'restricted' && 'without namespaces no worker is a fork'

test('figures of plotly and images of PIL are displays of a run, however it starts', { skip }, async () => {
  await using lazaret = createLazaret({ packages: { python: [root] }, ...warm })
  const runs = runParked(lazaret)
  const results = [
    await lazaret.run(python()),
    await runs(python()),
    await runs(python(['plotly.io', 'PIL.ImageShow'])),
  ]
  for (const { displays, stderr, receipt } of results)
    assert.deepEqual(
      displays.flatMap((bundle) => Object.keys(bundle)),
      shown,
      `${receipt.start}: ${stderr}`,
    )
})

test(
  'and of a context, unless the caller sets another renderer',
  { skip: await whyNoSandboxes() },
  async () => {
    await using lazaret = createLazaret({ packages: { python: [root] }, pools: noPools })
    await using sandbox = await lazaret.sandbox()
    for (const [renderer, types] of [
      [undefined, shown],
      ['svg', shown.slice(1)],
    ] as const) {
      await sandbox.setEnvVars({ PLOTLY_RENDERER: renderer })
      const context = await sandbox.createCodeContext()
      const { displays, stderr } = await context.runCode(code)
      assert.deepEqual(
        displays.flatMap((bundle) => Object.keys(bundle)),
        types,
        stderr,
      )
    }
  },
)

test('what a preloaded module prints at its import is output of no run', { skip }, async () => {
  await using lazaret = createLazaret({ packages: { python: [root] }, ...warm })
  const preload = ['talkative']
  const { receipt, stdout, stderr } = await runParked(lazaret)({
    ...python(preload),
    code: 'import talkative; print(1)',
  })
  assert.deepEqual([receipt.start, stdout, stderr], ['forked', '1\n', ''])
})

const path = findPythonWith(['matplotlib'])?.path
test(
  'matplotlib has the same settings preloaded as imported, and says nothing',
  {
    skip: skip || (path === undefined && 'no Python has matplotlib'),
  },
  async () => {
    await using lazaret = createLazaret({ toolchains: { python: path ?? '' }, ...warm })
    const program = {
      language: 'python',
      limits: { memoryBytes: 1024 ** 3 },
      code: `import matplotlib, matplotlib.pyplot as plt, os
plt.plot([1, 2]); plt.show()
[matplotlib.get_backend(), matplotlib.get_configdir(), os.path.isdir(matplotlib.get_configdir()), matplotlib.get_cachedir()]`,
    } as const
    const cold = await lazaret.run(program)
    const forked = await runParked(lazaret)({ ...program, preload: ['matplotlib.pyplot'] })
    assert.equal(forked.receipt.start, 'forked')
    const told = [cold, forked].map((result) => [result.value, result.stderr, result.displays.length])
    assert.deepEqual(told[1], told[0])
    assert.deepEqual(told[0]?.slice(1), ['', 1])
  },
)
