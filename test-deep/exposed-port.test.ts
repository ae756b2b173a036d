/** A page of a sandbox's server in a real browser: it loads, and its WebSocket works. */
import { test } from 'node:test'

import { createLazaret } from '../src/index.ts'
import { guestServer } from '../test/sandbox/ports/guest-server.ts'
import { browse, whyNoBrowser } from '../test/support/browse.ts'

test(
  'a browser shows a page of a sandbox, whose script talks over a WebSocket',
  { skip: whyNoBrowser },
  async () => {
    await using lazaret = createLazaret({ onEvent: () => undefined })
    await using sandbox = await lazaret.sandbox({ files: { 'server.mjs': guestServer } })
    const server = await sandbox.startProcess('node server.mjs 127.0.0.1')
    await server.waitForPort(3000)
    await using exposed = await sandbox.exposePort(3000)
    await using browsing = await browse()
    const { page } = await browsing.open()
    await page.goto(`${exposed.url}/page`)
    await page.locator('h1', { hasText: 'it works' }).waitFor()
  },
)
