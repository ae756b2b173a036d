/** The console's files: who may read them, and what they make a browser refuse. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { adaToken, send, serveHere } from './serve-here.ts'

const paths = ['/', '/docs', '/console.js', '/terminal.js', '/console.css', '/icon.svg']

test('the console needs no token, and each file has headers that restrict the browser', async () => {
  await using here = await serveHere()
  for (const path of paths) {
    const { status, headers, text } = await send(here.url, path, { token: null })
    assert.equal(status, 200, path)
    assert.ok(text.length > 100 && !text.includes(adaToken), path)
    const policy = String(headers['content-security-policy'])
    for (const part of [
      "default-src 'none'",
      "script-src 'self'",
      'frame-src blob:',
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
      "trusted-types 'none'",
    ])
      assert.ok(policy.split('; ').includes(part), `${path}: ${part}`)
    assert.match(policy, /; style-src 'self' 'sha256-[\w+/]{43}='; /)
    // A guest's SVG is shown in a frame that has no access to this page's blobs. Nothing else may come from data URLs.
    const pictures = "img-src 'self' blob: data:"
    const parts = policy.split('; ')
    assert.ok(parts.includes(pictures), path)
    assert.doesNotMatch(parts.filter((part) => part !== pictures).join('; '), /unsafe|\*|data:|https?:/)
    assert.equal(headers['x-content-type-options'], 'nosniff')
    assert.equal(headers['cross-origin-resource-policy'], 'same-origin')
    assert.equal(headers['referrer-policy'], 'no-referrer')
    assert.equal(headers['cache-control'], 'no-store')
  }
  const { text: page } = await send(here.url, '/', { token: null })
  assert.doesNotMatch(page, /<script(?![^>]* src=)|<style|\son\w+=|\sstyle=|https?:/)
})

test('its first load is small, and does not include the terminal', async () => {
  await using here = await serveHere()
  let bytes = 0
  for (const path of ['/', '/console.js', '/console.css', '/icon.svg']) {
    const { headers } = await send(here.url, path, { token: null, headers: { 'accept-encoding': 'gzip' } })
    assert.equal(headers['content-encoding'], 'gzip')
    bytes += Number(headers['content-length'])
  }
  assert.ok(bytes < 160 * 1024, `${bytes} bytes`)
})

test('any page may link to the console, but none can embed or fetch it, and other host names are refused', async () => {
  await using here = await serveHere()
  const statusOf = async (headers: Record<string, string>, path = '/'): Promise<number> =>
    (await send(here.url, path, { token: null, headers })).status
  const link = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }
  assert.equal(await statusOf(link), 200)
  assert.equal(await statusOf(link, '/openapi.json'), 403)
  assert.equal(await statusOf({ ...link, 'sec-fetch-dest': 'iframe' }), 403)
  assert.equal(
    await statusOf({ ...link, 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'script' }, '/console.js'),
    403,
  )
  assert.equal(await statusOf({ origin: 'https://evil.example' }, '/console.js'), 403)
  for (const path of paths) assert.equal(await statusOf({ ...link, host: 'evil.example' }, path), 403, path)
  assert.equal((await send(here.url, '/', { method: 'POST', token: null })).status, 405)
  assert.equal((await send(here.url, `/?token=${adaToken}`, { token: null })).status, 400)
  for (const path of ['/index.html', '/console.js.map', '/console/', '/..%2fpackage.json', '/terminal.js/'])
    assert.equal((await send(here.url, path, { token: null })).status, 401, path)
})
