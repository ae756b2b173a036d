/** The few platform APIs of isolates, compared with Node's own. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runIsolate } from './isolate.ts'

/** Expressions with the same result in both. */
const expressions: Readonly<Record<string, readonly string[]>> = {
  text: [
    '[...new TextEncoder().encode("aä€😀\\ud800b\\udc00")]',
    'new TextEncoder().encodeInto("a€b", new Uint8Array(3))',
    'new TextDecoder().decode(new Uint8Array([0xef, 0xbb, 0xbf, 0x61]))',
    'new TextDecoder("UTF-8", { ignoreBOM: true }).decode(new Uint8Array([0xef, 0xbb, 0xbf, 0x61]))',
    'new TextDecoder().decode(new Uint8Array([0xc0, 0x80, 0xe2, 0x82, 0x41, 0xf0, 0x9f, 0xed, 0xa0, 0x80, 0xf5]))',
    'new TextDecoder("utf8", { fatal: true }).decode(new Uint8Array([0xe2, 0x82]))',
    '(() => { const d = new TextDecoder(); return d.decode(new Uint8Array([0xe2, 0x82]), { stream: true }) + d.decode(new Uint8Array([0xac])) })()',
    'new TextDecoder().decode(new Uint8Array([97, 98]).buffer) + new TextDecoder().decode()',
    'new TextDecoder("nonsense")',
  ],
  base64: [
    'btoa("a\\xff\\0")',
    'btoa("")',
    'btoa("€")',
    'atob(" YQ==\\n")',
    'atob("YWI")',
    'atob("Y")',
    'atob("YQ=")',
    'atob("*")',
    'btoa(null)',
  ],
  clones: [
    'structuredClone({ a: [1, { b: new Date(0) }], c: undefined })',
    '(() => { const a = {}; a.a = a; const b = structuredClone(a); return b.a === b && b !== a })()',
    '[...structuredClone(new Map([[1, new Set([2])]]))[0][1]]',
    'structuredClone(new RangeError("no")) instanceof RangeError',
    '[...structuredClone(new Uint16Array([1, 2]).subarray(1))]',
    'structuredClone(/a/gi).source + structuredClone(Object(1n))',
    'structuredClone([1, , 3]).hasOwnProperty(1)',
    '(() => { const a = new ArrayBuffer(8); structuredClone(a, { transfer: [a] }); return a.byteLength })()',
    'structuredClone(() => 1)',
    'structuredClone({ a: Symbol() })',
  ],
  urls: [
    'new URL("HTTPS://me:pw@Ex%41mple.COM:443/a/../b c?q=1&q=ä#h")',
    '((u) => [u.origin, u.protocol, u.username, u.password, u.host, u.hostname, u.port, u.pathname, u.search, u.hash])(new URL("http://u:p@bücher.example:8080/x?y#z"))',
    'new URL("../c?d", "https://a.example/x/y/z").href',
    'new URL("nothing")',
    'new URL("http://[::1")',
    'new URL()',
    'URL("http://a")',
    '[URL.canParse("a:b"), URL.canParse("b"), URL.canParse("b", "http://a"), URL.parse("b"), URL.parse("b", "http://a").href]',
    '(() => { const u = new URL("http://a/b?c=d"); u.port = 81; u.hash = "x"; u.pathname = "p q"; u.search = ""; u.host = "h:1"; u.protocol = "nope:"; return u.href })()',
    '(() => { const u = new URL("http://a/?c=d"); const p = u.searchParams; p.append("e", "f g"); u.search = "?x=1&x=2"; return [u.href, [...p], p === u.searchParams, p.size] })()',
    '(() => { const u = new URL("http://a/?b=1&a=2&b=3"); u.searchParams.delete("b", "3"); u.searchParams.sort(); u.searchParams.set("c", "&"); return u.toString() })()',
    '(() => { const u = new URL("http://a/?b"); u.searchParams.delete("b"); return [u.href, u.searchParams.has("b")] })()',
    '(() => { const u = new URL("http://a/"); u.href = "no" })()',
    'new URLSearchParams("?a=1+2&b=%E2%82%AC&c&=d&a=%zz").toString()',
    '[...new URLSearchParams({ a: 1, b: "\ud800" })]',
    '[...new URLSearchParams([["a", "1"], new Set(["b", "2"])]).entries()]',
    'new URLSearchParams([["a"]])',
    '((p) => [p.get("a"), p.getAll("a"), p.get("z"), p.has("a", "2"), p.has("a", "3"), [...p.keys()], [...p.values()]])(new URLSearchParams("a=1&a=2&b="))',
    '((p) => { const all = []; p.forEach((value, name) => all.push(name + value)); p.set("a", "9"); return [all, String(p)] })(new URLSearchParams("a=1&a=2&b="))',
    '((p) => { p.sort(); return String(p) })(new URLSearchParams("z=1&a=2&z=0&ä=1&a=1&B=3&a=0"))',
    'JSON.stringify({ url: new URL("http://a/ ") }) + Object.prototype.toString.call(new URLSearchParams()) + URL.name',
  ],
}

for (const [topic, list] of Object.entries(expressions))
  for (const expression of list)
    test(`${topic}: ${expression.slice(0, 100)}`, async () => {
      const attempt = `(() => { try { return { value: ${expression} } } catch (error) { return error.name } })()`
      // oxlint-disable-next-line no-eval -- Node's own result
      const theirs = JSON.parse(JSON.stringify((0, eval)(attempt))) as unknown
      const ours = await runIsolate({ source: `output = ${attempt}` })
      assert.deepEqual('output' in ours && ours.output, theirs)
    })

test('random bytes and identifiers', async () => {
  const source = `
    const ids = Array.from({ length: 50 }, () => crypto.randomUUID())
    const tell = (call) => { try { return call() } catch (error) { return error.name } }
    output = [
      ids.every((id) => /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(id)), new Set(ids).size,
      new Set(crypto.getRandomValues(new Uint32Array(50))).size > 45,
      tell(() => crypto.getRandomValues(new Uint8Array(65537))),
      tell(() => crypto.getRandomValues(new Float32Array(1))),
      tell(() => crypto.getRandomValues([1])),
    ]`
  const ended = await runIsolate({ source })
  assert.deepEqual('output' in ended && ended.output, [
    true,
    50,
    true,
    'QuotaExceededError',
    'TypeError',
    'TypeError',
  ])
})

test('a URL that is too long is refused, and other programs go on', async () => {
  const ended = await runIsolate({ source: 'output = new URL("a:" + "b".repeat(2 ** 20))' })
  assert.ok(ended.state === 'failed')
  assert.equal(ended.error.name, 'RangeError')
})

test('they are frozen', async () => {
  const names = [
    'console',
    'crypto',
    'TextEncoder',
    'TextDecoder',
    'URL',
    'URLSearchParams',
    'atob',
    'structuredClone',
    'require',
    'fetch',
  ]
  const source = `output = ${JSON.stringify(names)}.filter((name) => !Object.isFrozen(globalThis[name]) || !Object.isFrozen(globalThis[name].prototype ?? 1))`
  const ended = await runIsolate({ source })
  assert.deepEqual('output' in ended && ended.output, [])
})
