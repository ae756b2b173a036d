/** SVG in the console: a few hundred bytes take minutes to draw, so it waits for a click, and is drawn by another process. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Frame, Page } from 'playwright-core'
import { adaToken, serveHere } from '../../test/adapters/http/serve-here.ts'
import { auditPage } from '../../test/support/audit-page.ts'
import { browse, whyNoBrowser } from '../../test/support/browse.ts'

const skip = whyNoBrowser

/** Each level draws the one below it ten times: 100,000 rectangles, in which Chromium stays for seconds. */
const program = `
import time
class Svg:
    def __init__(self, inside): self.inside = inside
    def _repr_svg_(self): return f'<svg xmlns="http://www.w3.org/2000/svg" width="33" height="90">{self.inside}</svg>'
levels = "".join(f'<g id="l{n + 1}">' + f'<use href="#l{n}"/>' * 10 + "</g>" for n in range(5))
costly = f'<defs><rect id="l0" width="1" height="1"/>{levels}</defs><use href="#l5"/>'
`

async function start(page: Page, code: string): Promise<void> {
  await page.locator('.cm-content').fill(`${program}${code}\ntime.sleep(600)`)
  await page.getByRole('button', { name: 'Run', exact: true }).click()
}

const pictureWidth = 'document.images[0].decode().then(() => document.images[0].naturalWidth)'

function frameOf(page: Page): Frame | undefined {
  return page.frames().find((frame) => frame.url().startsWith('blob:'))
}

test('an SVG waits for a click, and is then an image in a frame where nothing runs', { skip }, async () => {
  await using here = await serveHere()
  await using browsing = await browse()
  const { page, troubles, origins } = await browsing.open()
  await page.goto(`${here.url}/#token=${adaToken}`)
  await start(page, "display(Svg(\"<style>rect { fill: red }</style><rect width='33' height='90'/>\"))")
  const show = page.getByRole('button', { name: 'Show SVG, 132 B' })
  await show.waitFor()
  assert.equal(await page.locator('.display img, .display iframe').count(), 0)
  assert.deepEqual(await auditPage(page), [])
  await show.click()
  await page.frameLocator('.display iframe[sandbox=""]').locator('img').waitFor()
  assert.equal(await frameOf(page)?.evaluate(pictureWidth), 33)
  // The frame is as high as the picture and its margins.
  assert.equal(await page.evaluate('document.querySelector(".display iframe").style.height'), '106px')
  assert.deepEqual(await auditPage(page), [])
  assert.deepEqual([troubles, [...origins]], [[], [new URL(here.url).origin]])
})

test('a costly SVG holds neither the page that offers it nor the page that shows it', { skip }, async () => {
  await using here = await serveHere()
  await using browsing = await browse()
  const { page, troubles } = await browsing.open()
  await page.goto(`${here.url}/#token=${adaToken}`)
  await start(page, 'display(Svg(costly))')
  const show = page.getByRole('button', { name: /^Show SVG/ })
  await show.waitFor()
  assert.equal(await page.locator('.display img, .display iframe').count(), 0)
  await show.click()
  await page.locator('.display iframe').waitFor()
  const frame = frameOf(page)
  assert.ok(frame)
  // This throws unless the frame has a process of its own.
  await page.context().newCDPSession(frame)
  await page.getByRole('button', { name: 'Stop' }).click()
  await page.locator('.status', { hasText: 'was cancelled' }).waitFor()
  assert.deepEqual(troubles, [])
})
