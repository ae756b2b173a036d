/**
 * The console as a user sees it: runs, a stopped loop, the wall, files, a terminal, a copied command. With
 * LAZARET_WRITE_PICTURES it updates the pictures in docs/console/.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { adaToken, serveHere } from '../../test/adapters/http/serve-here.ts'
import { auditPage } from '../../test/support/audit-page.ts'
import { browse, whyNoBrowser } from '../../test/support/browse.ts'
import { checkoutRoot, listFiles } from '../../test/support/sources/checkout.ts'
import { whyNoSandboxes } from '../../test/support/sandboxes-here.ts'

const skip = whyNoBrowser
const desktop = { viewport: { width: 1280, height: 860 } }
const phone = { viewport: { width: 390, height: 844 }, colorScheme: 'dark' } as const
const pictureBytesMax = 100 * 1024
const writes = process.env['LAZARET_WRITE_PICTURES'] !== undefined

async function keepPicture(page: Page, name: string): Promise<void> {
  if (!writes) return
  const path = join(checkoutRoot, 'docs/console', `${name}.jpg`)
  await page.screenshot({ path, type: 'jpeg', quality: 68 })
}

async function run(page: Page, kind: 'good' | 'bad'): Promise<void> {
  await page.getByRole('button', { name: 'Run', exact: true }).click()
  await page.locator(`.status[data-kind=${kind}]`).waitFor()
}

/** By how much the page is wider than the screen, which must be 0. */
async function overhang(page: Page): Promise<number> {
  return page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')
}

for (const [device, options] of Object.entries({ desktop, phone }))
  test(
    `${device}: a person runs a plot and each language, stops a loop, and sees the wall`,
    { skip },
    async () => {
      await using here = await serveHere()
      await using browsing = await browse()
      const { page, troubles, origins } = await browsing.open(options)
      await page.goto(`${here.url}/#token=${adaToken}`)
      await run(page, 'good')
      await page.getByRole('button', { name: /^Show SVG/ }).click()
      await page.frameLocator('.display iframe').locator('img').waitFor()
      const plot = page.frames().find((frame) => frame.url().startsWith('blob:'))
      const width = 'document.images[0].decode().then(() => document.images[0].naturalWidth)'
      assert.equal(await plot?.evaluate(width), 480)
      assert.ok(!page.url().includes(adaToken))
      assert.match(await page.locator('.value').innerText(), /points:\s*241/)
      const stood = await page.locator('.ring:not(.missing)').count()
      assert.ok(stood >= 3, `${stood} layers`)
      assert.match(await page.locator('.wall-head').innerText(), new RegExp(`^${stood} layers active`))
      assert.ok((await page.locator('.cm-content .tok-keyword').count()) > 3)
      assert.deepEqual(await auditPage(page), [])
      await keepPicture(page, `${device}-run`)
      await page.getByRole('combobox').selectOption('An endless loop')
      await page.getByRole('button', { name: 'Run', exact: true }).click()
      await page.locator('.output', { hasText: 'still here: 1' }).waitFor()
      await page.getByRole('button', { name: 'Stop' }).click()
      await page.locator('.status', { hasText: 'was cancelled' }).waitFor()
      for (const [language, shown] of [
        ['JavaScript', '9 words'],
        ['TypeScript', '5'],
        ['Shell', 'uid='],
      ] as const) {
        await page.getByRole('button', { name: language, exact: true }).first().click()
        await run(page, 'good')
        assert.ok((await page.locator('.output').innerText()).includes(shown), language)
      }
      await page.locator('.cm-content').fill('for (;;);')
      await page.getByRole('button', { name: 'JavaScript', exact: true }).click()
      await page.locator('.cm-content').fill('const a = 1\nthrow new TypeError("no")')
      await page.locator('.cm-content').press('Control+Enter')
      await page.locator('.guest-error', { hasText: 'TypeError: no' }).waitFor()
      await page.getByRole('button', { name: 'Line 2' }).click()
      const selected = await page.evaluate('getSelection().toString()')
      assert.equal(selected, 'throw new TypeError("no")')
      assert.equal(await overhang(page), 0)
      assert.deepEqual([troubles, [...origins]], [[], [new URL(here.url).origin]])
    },
  )

test('the meter names the limit that ended a run', { skip }, async () => {
  await using here = await serveHere()
  await using browsing = await browse()
  const { page, troubles } = await browsing.open(desktop)
  await page.goto(`${here.url}/#token=${adaToken}`)
  await page.getByText('Input and limits').click()
  await page.getByLabel('Seconds').fill('1')
  await page.getByRole('combobox').selectOption('An endless loop')
  await run(page, 'bad')
  assert.match(await page.locator('.limits .touched').innerText(), /Time[^]*reached; enforced by/)
  await keepPicture(page, 'desktop-limit')
  assert.deepEqual(troubles, [])
})

test('the copied command works in a shell', { skip }, async () => {
  await using here = await serveHere()
  await using browsing = await browse()
  const { page } = await browsing.open(desktop)
  await page.goto(`${here.url}/#token=${adaToken}`)
  await page.locator('.cm-content').fill(`print("it's \\"quoted\\" $HOME \\\\ ü")`)
  await page.locator('[data-copy=curl]').click()
  await page.getByText('Copied as curl').waitFor()
  assert.ok(!(await page.locator('.copied').innerText()).includes(adaToken))
  const command = await page.evaluate('navigator.clipboard.readText()')
  // The server runs in this process, so a synchronous shell would block it.
  const { spawn } = await import('node:child_process')
  const { text } = await import('node:stream/consumers')
  if (spawnSync('sh', ['-c', 'command -v curl']).status !== 0) return
  const shell = spawn('sh', ['-c', String(command)], { stdio: ['ignore', 'pipe', 'inherit'] })
  const { stdout } = JSON.parse(await text(shell.stdout)) as { readonly stdout: string }
  assert.equal(stdout, `it's "quoted" $HOME \\ ü\n`)
})

const noSandboxes = await whyNoSandboxes()
for (const [device, options] of Object.entries({ desktop, phone }))
  test(
    `${device}: a person makes a sandbox, uploads a file, and reads it in a terminal`,
    { skip: skip === false ? noSandboxes : skip },
    async () => {
      await using here = await serveHere()
      await using browsing = await browse()
      const { page, troubles } = await browsing.open(options)
      await page.goto(`${here.url}/#token=${adaToken}`)
      await page.getByRole('link', { name: 'Sandboxes' }).click()
      await page.getByRole('button', { name: 'New sandbox' }).click()
      const file = { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('from the browser\n') }
      await page.locator('#upload').setInputFiles(file)
      await page.getByText('Uploaded notes.txt').waitFor()
      await page.getByRole('button', { name: 'Open a terminal' }).click()
      await page.locator('.xterm-rows', { hasText: '/workspace $' }).waitFor()
      await page.locator('.xterm-helper-textarea').focus()
      await page.keyboard.type('tr a-z A-Z < notes.txt; printf "\\033[38;2;255;120;0morange\\033[0m\\n"\n')
      await page.locator('.xterm-rows', { hasText: 'FROM THE BROWSER' }).waitFor()
      await page.locator('.xterm-rows span', { hasText: /^orange$/ }).waitFor()
      assert.deepEqual(await auditPage(page), [])
      await keepPicture(page, `${device}-sandbox`)
      assert.equal(await overhang(page), 0)
      const saved = page.waitForEvent('download')
      await page.getByRole('button', { name: 'notes.txt', exact: true }).click()
      assert.equal((await saved).suggestedFilename(), 'notes.txt')
      await page.getByRole('button', { name: 'Destroy' }).click()
      await page.getByText('No sandboxes yet.').waitFor()
      assert.deepEqual(troubles, [])
    },
  )

test(
  'files in nested folders are opened, downloaded and deleted',
  { skip: skip === false ? noSandboxes : skip },
  async () => {
    await using here = await serveHere()
    await using browsing = await browse()
    const { page } = await browsing.open(desktop)
    await page.goto(`${here.url}/#token=${adaToken}`)
    await page.getByRole('link', { name: 'Sandboxes' }).click()
    await page.getByRole('button', { name: 'New sandbox' }).click()
    await page.locator('#upload').waitFor({ state: 'attached' })
    const [sandbox] = here.engine.lazaret.listSandboxes()
    assert.ok(sandbox)
    await sandbox.writeFile('a/b/deep.txt', 'deep', { createParents: true })
    const press = (name: string) => page.getByRole('button', { name, exact: true }).click()
    await press('Refresh')
    await press('a/')
    await press('b/')
    const saved = page.waitForEvent('download')
    await press('deep.txt')
    assert.equal(await readFile(await (await saved).path(), 'utf8'), 'deep')
    await press('Delete deep.txt')
    await page.getByText('Deleted deep.txt.').waitFor()
    assert.deepEqual((await sandbox.listFiles('a/b')).entries, [])
    await press('Up')
    await press('Up')
    await page.getByRole('button', { name: 'a/', exact: true }).waitFor()
    await sandbox.deleteFile('a', { recursive: true })
    await press('a/')
    await page.getByText('There is no such file').waitFor()
    await page
      .locator('#upload')
      .setInputFiles({ name: 'up.txt', mimeType: 'text/plain', buffer: Buffer.from('up') })
    await page.getByText('Uploaded up.txt.').waitFor()
    assert.equal(await sandbox.readFile('up.txt'), 'up')
  },
)

test('machine and routes are shown, and an unknown token is requested again', { skip }, async () => {
  await using here = await serveHere()
  await using browsing = await browse()
  const { page, troubles } = await browsing.open(phone)
  await page.goto(`${here.url}/docs#token=${adaToken}`)
  await page.getByText('/v1/sandboxes/{id}/terminal').waitFor()
  await page.getByText('Run a program once').click()
  await page.getByText('Event display: DisplayEvent').first().waitFor()
  assert.deepEqual(await auditPage(page), [])
  assert.equal(await overhang(page), 0)
  await page.getByRole('link', { name: 'Machine' }).click()
  await page.getByText('Interpreters').waitFor()
  assert.deepEqual(await auditPage(page), [])
  assert.equal(await overhang(page), 0)
  assert.deepEqual(troubles, [])
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByLabel('Token').fill('lzt_nobody')
  await page.getByRole('button', { name: 'Enter' }).click()
  await page.getByText('does not know the token').waitFor()
  await page.getByLabel('Token').fill(adaToken)
  await page.getByRole('button', { name: 'Enter' }).click()
  await page.getByRole('link', { name: 'Run', exact: true }).waitFor()
})

test('the pictures in the documentation are small', () => {
  const pictures = listFiles('docs/console', ['.jpg'])
  assert.ok(pictures.length >= 4)
  for (const picture of pictures)
    assert.ok(statSync(join(checkoutRoot, picture)).size <= pictureBytesMax, picture)
})
