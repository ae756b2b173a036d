/** Displays in the console of a program that still runs: shown, replaced and cleared as they come, however many come. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { adaToken, serveHere } from '../../test/adapters/http/serve-here.ts'
import { auditPage } from '../../test/support/audit-page.ts'
import { browse, whyNoBrowser } from '../../test/support/browse.ts'

const skip = whyNoBrowser

/** Each of these states lasts until somebody stops the program. */
const setting = `
import struct, time, zlib
class Html:
    def __init__(self, html): self.html = html
    def _repr_html_(self): return self.html
class Png:
    def __init__(self, width): self.width = width
    def _repr_png_(self):
        part = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        head = struct.pack(">2I5B", self.width, 9, 8, 0, 0, 0, 0)
        rows = zlib.compress(bytes((self.width + 1) * 9))
        return b"\\x89PNG\\r\\n\\x1a\\n" + part(b"IHDR", head) + part(b"IDAT", rows) + part(b"IEND", b"")
def stay():
    while True: time.sleep(60)
`

async function start(page: Page, code: string): Promise<void> {
  await page.locator('.cm-content').fill(setting + code)
  await page.getByRole('button', { name: 'Run', exact: true }).click()
  await page.locator('.status[data-kind=busy]').waitFor()
}

async function stop(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Stop' }).click()
  await page.locator('.status', { hasText: 'was cancelled' }).waitFor()
}

async function isRunning(page: Page): Promise<boolean> {
  return (await page.locator('.status').getAttribute('data-kind')) === 'busy'
}

test(
  'displays are there while the program runs, and are those of the result when it ends',
  { skip },
  async () => {
    await using here = await serveHere()
    await using browsing = await browse()
    const { page, troubles, origins } = await browsing.open()
    await page.goto(`${here.url}/#token=${adaToken}`)
    await page.getByText('Input and limits').click()
    await page.getByLabel('Seconds').fill('600')
    const [frame, picture] = [page.locator('.display iframe'), page.locator('.display img')]
    const shown = page.frameLocator('.display iframe').locator('body')

    await start(page, 'display(Html("<b>one</b>"), display_id="it"); display(Png(11)); stay()')
    await shown.getByText('one', { exact: true }).waitFor()
    await picture.waitFor()
    assert.equal(await frame.getAttribute('sandbox'), '')
    assert.ok(await isRunning(page))
    // The result has them too, and leaves those that are there as they are.
    await page.evaluate(
      'for (const one of document.querySelectorAll(".display")) one.dataset.mark = "drawn before"',
    )
    await stop(page)
    await page.locator('.wall-head').waitFor()
    assert.equal(await page.locator('.display[data-mark="drawn before"]').count(), 2)
    assert.equal(await page.locator('.display').count(), 2)
    assert.deepEqual(await auditPage(page), [])

    await start(
      page,
      'it = display(Html("one"), display_id=True); display(Png(11)); it.update(Png(22)); stay()',
    )
    await page.locator('.display img[src]').nth(1).waitFor()
    assert.deepEqual(
      await page.evaluate('[...document.querySelectorAll(".display img")].map((one) => one.naturalWidth)'),
      [22, 11],
    )
    assert.ok(await isRunning(page))
    await stop(page)
    assert.equal(await frame.count(), 0)

    await start(page, 'display(Html("one")); display(Png(11)); clear_output(); display(Html("two")); stay()')
    await shown.getByText('two', { exact: true }).waitFor()
    assert.equal(await page.locator('.display').count(), 1)
    await stop(page)

    await start(page, 'display(Html("one")); clear_output(wait=True); print("cleared", flush=True); stay()')
    await page.locator('.output', { hasText: 'cleared' }).waitFor()
    await shown.getByText('one', { exact: true }).waitFor()
    await stop(page)
    assert.equal(await page.locator('.display').count(), 1)

    await page.locator('.cm-content').fill('print("nothing more")')
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await page.locator('.output', { hasText: 'nothing more' }).waitFor()
    await page.locator('.status[data-kind=good]').waitFor()
    assert.equal(await page.locator('.displays').count(), 0)
    assert.deepEqual([troubles, [...origins]], [[], [new URL(here.url).origin]])
  },
)

const hostile = String.raw`
page = """<script>hacked = 1; fetch("https://evil.example/")</script><img src=x onerror="hacked = 1">
<iframe src="javascript:hacked = 1"></iframe><style>body { display: none }</style><p onclick="hacked = 1">cell"""
svg = """<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9" onload="hacked = 1"><script>hacked = 1</script>
<image href="https://evil.example/x.png"/></svg>"""
class Drawing:
    def _repr_svg_(self): return svg
`

/** What follows the flood stays for as long as the test needs. */
const manyTimes = 'for _ in range(500):'
for (const [what, code, most] of [
  [
    'replaces',
    `some = [display(Html(page), display_id=True) for _ in range(5)]
${manyTimes}
    for it in some: it.update(Html(page + "x" * 10_000))`,
    5,
  ],
  ['clears', `${manyTimes} clear_output(); display(Html(page)); display(Drawing())`, 2],
  ['shows', `${manyTimes} display(Html(page)); display(Drawing())`, 100],
] as const)
  test(
    `a hostile program that ${what} displays without a pause leaves a page that answers, and nothing of it runs`,
    { skip },
    async () => {
      await using here = await serveHere()
      await using browsing = await browse()
      const { page, troubles, origins } = await browsing.open()
      await page.goto(`${here.url}/#token=${adaToken}`)
      await page.getByText('Input and limits').click()
      await page.getByLabel('Seconds').fill('600')
      await start(page, `${hostile}\n${code}\nstay()`)
      await page.frameLocator('.display iframe').first().getByText('cell').waitFor()
      // The page still takes input, draws and counts, while more and more arrives.
      for (let turn = 0; turn < 20; turn++) {
        await page.getByLabel('Input, as JSON').fill(String(turn))
        const count = await page.locator('.display').count()
        assert.ok(count <= most, `${count} displays`)
      }
      assert.ok(await isRunning(page), await page.locator('.status').innerText())
      await stop(page)
      assert.equal(await page.evaluate('typeof hacked'), 'undefined')
      const strangers =
        'document.querySelectorAll("main script, main style, main iframe:not([sandbox=\\"\\"])").length'
      assert.equal(await page.evaluate(strangers), 0)
      if (what === 'shows') {
        await page.locator('.display').nth(99).waitFor()
        await page.getByRole('button', { name: 'Show 100 more displays' }).click()
        await page.locator('.display').nth(199).waitFor()
        assert.equal(await page.locator('.display').count(), 200)
      }
      assert.deepEqual([troubles, [...origins]], [[], [new URL(here.url).origin]])
    },
  )
