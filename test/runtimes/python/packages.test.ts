/** Programs with numpy, pandas and matplotlib, if an interpreter has them. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { createLazaret } from '../../support/create-lazaret.ts'
import type { RunResult } from '../../../src/index.ts'
import { findPythonWith } from '../../support/machine/find-python.ts'
import { countColours, readPng } from '../../support/read-png.ts'
import { useLazaret } from '../../support/use-lazaret.ts'

const python = findPythonWith(['numpy', 'pandas', 'matplotlib'])
const { run: runAny } = await useLazaret(python === null ? {} : { toolchains: { python: python.path } })
const skip = python === null && 'no interpreter here has numpy, pandas and matplotlib'

/** Runs a program that must succeed. */
async function run(code: string, rest = {}): Promise<RunResult> {
  const result = await runAny({ language: 'python', code, ...rest })
  assert.deepEqual(result.outcome, { kind: 'completed', exitCode: 0 }, result.stderr)
  assert.equal(result.stderr, '')
  return result
}

const picturesOf = ({ displays }: RunResult) =>
  displays.map((bundle) => readPng(Buffer.from(bundle['image/png'] ?? '', 'base64')))

suite('programs with numpy, pandas and matplotlib', { skip }, () => {
  test('numbers and arrays of numpy, and missing values of pandas, become plain values', async () => {
    const scalars = await run(`
import numpy as np, pandas as pd
n = np.int64(3)
[n, n, np.float32(0.5), np.bool_(True), np.uint64(2**63), np.longdouble(2), np.complex64(1j), np.str_("s"),
 np.datetime64("2024-01-02"), np.datetime64("2024-01-02T03:04:05.678901234"), np.timedelta64(5, "s"),
 np.datetime64("NaT"), pd.NaT, pd.NA, pd.Timestamp("2024-01-02"), pd.Series([1, 2]).sum()]`)
    assert.deepEqual(scalars.valueTagged, [
      ...[3, 3, 0.5, true, { $type: 'BigInt', value: '9223372036854775808' }, 2],
      ...[{ $type: 'complex', real: 0, imag: 1 }, 's', { $type: 'date', value: '2024-01-02' }],
      ...[
        { $type: 'datetime', value: '2024-01-02T03:04:05.678901' },
        { $type: 'timedelta', value: 5 },
      ],
      ...[null, null, null, { $type: 'datetime', value: '2024-01-02T00:00:00' }, 3],
    ])
    const arrays = await run(`
import numpy as np
[np.arange(6).reshape(2, 3), np.array(5.0), np.array([]), np.array([np.nan, -0.0]), np.array(["a", "b"]),
 np.array([(1, 2.5)], dtype="i4,f8"), np.ma.array([1, 2], mask=[False, True]), np.array([None, {"a": np.int8(1)}])]`)
    assert.deepEqual(arrays.valueTagged, [
      [
        [0, 1, 2],
        [3, 4, 5],
      ],
      ...[5, [], [{ $type: 'NaN' }, { $type: '-0' }], ['a', 'b'], [{ $type: 'tuple', value: [1, 2.5] }]],
      ...[
        [1, null],
        [null, { a: 1 }],
      ],
    ])
  })

  test('an array that is too long for a value is replaced by its text, without converting it to lists', async () => {
    const { valueTagged, truncated } = await runAny({
      language: 'python',
      code: 'import numpy as np\nnp.zeros((4000, 4000))',
      limits: { memoryBytes: 256 * 1024 * 1024 },
    })
    assert.deepEqual(truncated, ['value'])
    assert.match(
      JSON.stringify(valueTagged),
      /^{"\$type":"Unserializable","text":"array\(\[\[0\., 0\., 0\., \.\.\./,
    )
  })

  test('a table is shown as HTML and text, and its text is the value', async () => {
    const { displays, valueTagged } = await run(`
import pandas as pd
df = pd.DataFrame({"city": ["Oslo", "<Rome>"], "n": [1, 2]})
display(df.describe())
df[df.n > 1]`)
    assert.deepEqual(
      displays.map((bundle) => Object.keys(bundle)),
      [
        ['text/plain', 'text/html'],
        ['text/plain', 'text/html'],
      ],
    )
    const [, { 'text/plain': text, 'text/html': html } = {}] = displays
    assert.equal(text, '     city  n\n1  <Rome>  2')
    assert.match(html ?? '', /<table[^>]*class="dataframe">.*<td>&lt;Rome&gt;<\/td>\s*<td>2<\/td>/s)
    assert.deepEqual(valueTagged, { $type: 'Unserializable', text })
    const records = await run('import pandas as pd\npd.DataFrame({"a": [1, 2]}).to_dict("records")')
    assert.deepEqual(records.valueTagged, [{ a: 1 }, { a: 2 }])
  })

  test('a series, which has only a text, is not displayed', async () => {
    const { displays, valueText } = await run('import pandas as pd\npd.Series([1])')
    assert.deepEqual([displays, valueText], [[], '0    1\ndtype: int64'])
  })

  test('a table as an argument of a host function is an error that says how to send it', async () => {
    const { value } = await run(
      `import pandas as pd
seen = []
table = pd.DataFrame({"a": range(50)})
for argument in (table, {"tables": [1, (table,)]}, table.a):
    try:
        take(argument)
    except TypeError as error:
        seen.append(str(error))
seen`,
      { functions: { take: () => null } },
    )
    const [whole, inside, column] = value as string[]
    assert.match(
      whole ?? '',
      /^an argument of 'take' cannot be sent to the host: a 0 0 1 1 .{0,100}… \(send `\.to_dict\("records"\)` of a table\)$/,
    )
    assert.equal(inside, whole)
    assert.match(column ?? '', / \(send `\.to_list\(\)` of a Series\)$/)
  })

  test('drawing a chart causes no warnings, and warnings of the program are kept', async () => {
    const { displays, stderr } = await runAny({
      language: 'python',
      code: `
import matplotlib.pyplot as plt, warnings
plt.plot([1, 2])
plt.title("\u4f60")
warnings.warn("mine")`,
    })
    assert.equal(displays.length, 1)
    assert.match(stderr, /UserWarning: mine/)
    assert.doesNotMatch(stderr, /Glyph|guest_figures/)
  })

  test('a chart is returned as a PNG with its colours', async () => {
    const result = await run(`
import matplotlib.pyplot as plt
figure, axes = plt.subplots(figsize=(4, 3), dpi=50)
axes.bar(["a", "b"], [1, 2], color=["#ff0000", "#0000ff"])
axes.set_title("Bars")
plt.show()
plt.get_fignums()`)
    assert.deepEqual(result.valueTagged, [])
    assert.equal(result.displays[0]?.['text/plain'], '<Figure size 200x150 with 1 Axes>')
    const [picture] = picturesOf(result)
    assert.ok(picture !== undefined)
    // The picture is cropped to its content, so it is not exactly 200 × 150.
    assert.ok(Math.abs(picture.width - 200) < 40 && Math.abs(picture.height - 150) < 40)
    const colours = countColours(picture)
    for (const colour of ['255,0,0,255', '0,0,255,255', '255,255,255,255'])
      assert.ok((colours.get(colour) ?? 0) > 500, `${colour}: ${colours.get(colour)}`)
    assert.ok((colours.get('0,0,255,255') ?? 0) > (colours.get('255,0,0,255') ?? 0))
  })

  test('figures are shown once each: at show(), by the program itself, or when it ends', async () => {
    const red = '#ff0000'
    const { displays, stdout, files } = await run(`
import matplotlib.pyplot as plt, os
first = plt.figure(); plt.plot([1, 2])
plt.show()
second, axes = plt.subplots(); axes.plot([2, 1], color="${red}")
display(second)
third = plt.figure(); plt.hist([1, 1, 2])
plt.figure()
print([len(plt.get_fignums()), os.listdir()])`)
    assert.equal(stdout, '[3, []]\n')
    assert.deepEqual(files ?? {}, {})
    assert.deepEqual(
      displays.map((bundle) => Object.keys(bundle)),
      [1, 2, 3].map(() => ['text/plain', 'image/png']),
    )
  })

  test('a figure is the value, too, and pandas draws with matplotlib', async () => {
    const result = await run('import pandas as pd\npd.DataFrame({"a": [1, 3]}).plot().figure')
    assert.equal(picturesOf(result).length, 1)
    assert.equal(result.valueText, '<Figure size 640x480 with 1 Axes>')
  })

  test('an unfinished chart is shown even if the program fails', async () => {
    const result = await runAny({
      language: 'python',
      code: 'import matplotlib.pyplot as plt\nplt.plot([1, 2])\n1 / 0',
    })
    assert.equal(result.outcome.kind, 'failed')
    assert.equal(picturesOf(result).length, 1)
  })
})

const withIPython = findPythonWith(['IPython'])

test(
  'display() and the display objects of IPython work, where it is installed',
  { skip: withIPython === null && 'no interpreter here has IPython' },
  async () => {
    await using lazaret = createLazaret({ toolchains: { python: withIPython?.path ?? '' } })
    const { displays, stdout, outcome } = await lazaret.run({
      language: 'python',
      code: 'from IPython.display import HTML, Markdown, display\ndisplay(HTML("<b>x</b>"), 5)\nMarkdown("*m*")',
    })
    assert.deepEqual([outcome, stdout], [{ kind: 'completed', exitCode: 0 }, ''])
    assert.deepEqual(displays, [
      { 'text/plain': '<IPython.core.display.HTML object>', 'text/html': '<b>x</b>' },
      { 'text/plain': '5' },
      { 'text/plain': '<IPython.core.display.Markdown object>', 'text/markdown': '*m*' },
    ])
  },
)
