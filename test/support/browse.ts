/** The console in a real browser, which reports everything that the page's content security policy has blocked. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'

/** Enough for a busy machine. A test waits only as long as it has to. */
const waitMs = 60_000

const found = spawnSync('sh', ['-c', 'command -v chromium'], { encoding: 'utf8' }).stdout.trim()

/** Why there is no browser; false if there is one. */
export const whyNoBrowser = found === '' ? 'chromium is not installed' : false

export interface Browsing extends AsyncDisposable {
  open(options?: BrowserContextOptions): Promise<Watched>
}

export interface Watched {
  readonly page: Page
  /** Violations of the policy, errors and dialogs. The console itself causes none. */
  readonly troubles: string[]
  /** The origins that requests went to. */
  readonly origins: Set<string>
}

/** The names in `rebound` resolve to this machine. */
export async function browse(rebound: readonly string[] = []): Promise<Browsing> {
  const home = mkdtempSync(join(tmpdir(), 'lazaret-browser-'))
  const rules = rebound.map((name) => `MAP ${name} 127.0.0.1`).join(', ')
  const browser: Browser = await chromium.launch({
    executablePath: found,
    // The browser's own sandbox needs privileges that containers rarely have, and it only shows pages of this machine.
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', `--host-resolver-rules=${rules}`],
    env: { ...process.env, HOME: home },
  })
  return {
    open: (options) => watch(browser, options),
    async [Symbol.asyncDispose]() {
      await browser.close()
      rmSync(home, { recursive: true, force: true })
    },
  }
}

async function watch(browser: Browser, options: BrowserContextOptions = {}): Promise<Watched> {
  const context = await browser.newContext({ permissions: ['clipboard-read', 'clipboard-write'], ...options })
  const page = await context.newPage()
  page.setDefaultTimeout(waitMs)
  const troubles: string[] = []
  const origins = new Set<string>()
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) troubles.push(`${message.type()}: ${message.text()}`)
  })
  page.on('pageerror', (error) => troubles.push(`thrown: ${error.message}`))
  page.on('dialog', (dialog) => {
    troubles.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on('request', (request) => origins.add(new URL(request.url()).origin))
  page.on('websocket', (socket) => origins.add(new URL(socket.url()).origin.replace(/^ws/, 'http')))
  return { page, troubles, origins }
}
