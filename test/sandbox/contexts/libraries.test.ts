/**
 * Displays of libraries in a context, if they are installed, and of code that implements their protocols without them.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { CodeResult, MimeBundle } from '../../../src/index.ts'
import { createLazaret } from '../../support/create-lazaret.ts'
import { findPythonWith } from '../../support/machine/find-python.ts'
import { readPng } from '../../support/read-png.ts'
import { describeContexts, valueOf } from './use-contexts.ts'

type Shown = readonly MimeBundle[]

interface Case {
  readonly module: string
  readonly does: string
  readonly code: string
  readonly check: (shown: Shown, result: CodeResult) => void
}

const isPicture = (bundle: MimeBundle | undefined) =>
  assert.ok(readPng(Buffer.from(bundle?.['image/png'] ?? '', 'base64')).width > 50)

const cases: readonly Case[] = [
  {
    module: 'matplotlib',
    does: 'shows figures at plt.show(), those left open at the end, and none twice',
    code: `import matplotlib.pyplot as plt
plt.plot([1, 4, 9]); plt.show()
figure, axes = plt.subplots(); axes.bar(["a", "b"], [1, 2])
display(figure)
plt.figure(); plt.plot([3, 1])
None`,
    check: (shown) => {
      assert.deepEqual(shown.map(typesOf), [
        plainAnd('image/png'),
        plainAnd('image/png'),
        plainAnd('image/png'),
      ])
      shown.forEach(isPicture)
    },
  },
  {
    module: 'pandas',
    does: 'shows tables as HTML and text',
    code: 'import pandas as pd\nrows = pd.DataFrame({"city": ["Oslo", "<Rome>"], "n": [1, 2]})\ndisplay(rows)\nrows[rows.n > 1]',
    check: (shown, { valueText }) => {
      assert.deepEqual(shown.map(typesOf), [plainAnd('text/html'), plainAnd('text/html')])
      assert.match(shown[1]?.['text/html'] ?? '', /<td>&lt;Rome&gt;<\/td>/)
      assert.match(valueText ?? '', /1 {2}<Rome> {2}2/)
    },
  },
  {
    module: 'plotly',
    does: 'shows figures as JSON of its own',
    code: 'import plotly.graph_objects as go\nfigure = go.Figure(go.Scatter(y=[1, 4, 9]))\nfigure.show()\nfigure',
    check: (shown) => {
      assert.equal(shown.length, 2)
      for (const { 'application/vnd.plotly.v1+json': json = '' } of shown)
        assert.deepEqual((JSON.parse(json) as { data: unknown[] }).data[0], { type: 'scatter', y: [1, 4, 9] })
    },
  },
  {
    module: 'altair',
    does: 'shows charts as HTML, and as a description of Vega-Lite where it is told to',
    code: `import altair as alt
chart = alt.Chart(alt.Data(values=[{"x": 1, "y": 2}])).mark_bar().encode(x="x:Q", y="y:Q")
display(chart)
with alt.renderers.enable("mimetype"): display(chart)`,
    check: ([page, bundle]) => {
      assert.match(page?.['text/html'] ?? '', /vega-lite/)
      const [, json = '{}'] =
        Object.entries(bundle ?? {}).find(([type]) => type.startsWith('application/vnd.vegalite')) ?? []
      assert.deepEqual((JSON.parse(json) as { encoding?: object }).encoding, {
        x: { field: 'x', type: 'quantitative' },
        y: { field: 'y', type: 'quantitative' },
      })
    },
  },
  {
    module: 'polars',
    does: 'shows tables as HTML and text',
    code: 'import polars as pl\npl.DataFrame({"city": ["Oslo", "<Rome>"], "n": [1, 2]}).filter(pl.col("n") > 1)',
    check: (shown) => {
      assert.deepEqual(shown.map(typesOf), [plainAnd('text/html')])
      assert.match(shown[0]?.['text/html'] ?? '', /&lt;Rome&gt;/)
    },
  },
]

const typesOf = (bundle: MimeBundle) => Object.keys(bundle)
const plainAnd = (type: string) => ['text/plain', type]

await describeContexts(async (sandbox) => {
  for (const { module, does, code, check } of cases) {
    const python = findPythonWith([module])
    const skip = python === null && `no Python here has ${module}`
    test(`${module} ${does}`, { skip }, async () => {
      await using lazaret = createLazaret({
        onEvent: () => undefined,
        toolchains: { python: python?.path ?? '' },
      })
      await using own = await lazaret.sandbox()
      const context = await own.createCodeContext()
      // The second time, the module is imported already, and no earlier display remains.
      for (let times = 0; times < 2; times++) {
        const result = await context.runCode(code)
        assert.deepEqual(result.outcome, { kind: 'completed', exitCode: 0 }, result.stderr)
        check(result.displays, result)
      }
    })
  }

  /** Displays like those of the libraries, without them. */
  const protocol = `class Chart:
    def _repr_mimebundle_(self, include=None, exclude=None):
        return {"application/vnd.vegalite.v5+json": {"mark": "bar"}, "text/plain": "a chart"}
class Figure:
    def _repr_mimebundle_(self, include=None, exclude=None, validate=True, **kwargs):
        return {"application/vnd.plotly.v1+json": {"data": [{"y": [1]}]}}, {"metadata": {}}
class Frame:
    def __repr__(self): return "a frame"
    def _repr_html_(self): return "<table></table>"`

  test('objects that implement the protocols of these libraries are displayed like theirs', async () => {
    const context = await sandbox.createCodeContext()
    await valueOf(context.runCode(protocol))
    const { displays } = await context.runCode('display(Chart(), Figure()); Frame()')
    const [chart, figure, frame] = displays
    assert.deepEqual(JSON.parse(chart?.['application/vnd.vegalite.v5+json'] ?? ''), { mark: 'bar' })
    assert.equal(chart?.['text/plain'], 'a chart')
    assert.deepEqual(JSON.parse(figure?.['application/vnd.plotly.v1+json'] ?? ''), { data: [{ y: [1] }] })
    assert.deepEqual(frame, { 'text/plain': 'a frame', 'text/html': '<table></table>' })
    await sandbox.deleteCodeContext(context.id)
  })
})
