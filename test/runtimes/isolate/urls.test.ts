/** URLs in an isolate, compared with Node's own, with the topics of the web platform tests (url/ of WPT). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runIsolate } from './isolate.ts'

const parts = ['href', 'origin', 'protocol', 'username', 'password', 'host', 'hostname', 'port', 'pathname']

/** As in urltestdata.json: an input, and its base if it has one. */
const inputs: readonly (readonly [input: string, base?: string])[] = [
  ['http://example\t.\norg'],
  ['http://user:pass@foo:21/bar;par?b#c'],
  ['https://test:@test'],
  ['non-special://test:@test/x'],
  ['http:foo.com', 'http://example.org/foo/bar'],
  ['\t   :foo.com   \n', 'http://example.org/foo/bar'],
  [' foo.com  ', 'http://example.org/foo/bar'],
  ['a:\t foo.com', 'http://example.org/foo/bar'],
  ['http://f:21/ b ? d # e ', 'http://example.org/foo/bar'],
  ['lolscheme:x x#x x'],
  ['http://f:c/b'],
  ['http://f: /c'],
  ['http://f:0/c'],
  ['http://f:00000000000080/c'],
  ['http://f:999999/c'],
  ['non-special://f:999999/c'],
  ['', 'http://example.org/foo/bar'],
  [':a', 'http://example.org/foo/bar'],
  ['#;?', 'http://example.org/foo/bar?q'],
  ['\\x', 'http://example.org/foo/bar'],
  ['http::@c:29', 'http://example.org/foo/bar'],
  ['http://a:b@c:29/d'],
  ['http://foo.com:b@d/'],
  ['http://foo/path;a??e#f#g'],
  ['[61:24:74]:98', 'http://example.org/foo/bar'],
  ['http://[1::2]:3:4'],
  ['http://[2001::1%eth0]/'],
  ['http://[::127.0.0.1]'],
  ['http://[0:0:0:0:0:0:13.1.68.3]'],
  ['http://2001::1'],
  ['file:c:\\foo\\bar', 'file:///tmp/mock/path'],
  ['  File:c|////foo\\bar.html', 'file:///tmp/mock/path'],
  ['//server/file', 'file:///tmp/mock/path'],
  ['file://localhost/a//../..//foo'],
  ['data:text/html,test#test', 'http://example.org/foo/bar'],
  ['javascript:alert("a b")'],
  ['mailto:example.com/../x', 'http://example.org/foo/bar'],
  ['ws:/example.com/../'],
  ['http://example.com/foo/%2e%2'],
  ['http://example.com/%2e%2E/x/./..'],
  ['http://example.com/foo%2zbar'],
  ['http://example.com/\u0000%00\u00e9\ud83d\ude00'],
  ['http://www.example.com/##asdf'],
  ['http://GOO\u200b\u2060\ufeffgoo.com'],
  ['http://\uff27\uff4f.com'],
  ['http://faß.ExAmPlE/'],
  ['http://xn--zn7c.com'],
  ['http://%zz%66%a.com'],
  ['http://a<b'],
  ['http://a b'],
  ['http://0x7f.1/test'],
  ['http://010.0.0.257'],
  ['http://256'],
  ['http://1.2.3.4.5'],
  ['http://foo.09..'],
  ['non-special:opaque  ?hi'],
  ['non-special:opaque \t\u00a0 #hi'],
  ['blob:https://example.com:443/x'],
  ['ftp://%e2%98%83'],
  ['\ud800http://a'],
  ['http://a/?\ud800\udc00\ud800'],
  ['#x', 'mailto:x@x.com'],
  ['x', 'mailto:x@x.com'],
  ['///test', 'sc://x/'],
  ['http://a', 'nothing'],
  ['web+demo:/.//not-a-host/'],
]

/** As in setters_tests.json: a URL, and new values for its parts. */
const changes: readonly (readonly [href: string, part: string, value: unknown])[] = [
  ['a://example.net', 'protocol', 'b'],
  ['http://localhost/', 'protocol', 'http:foo:bar'],
  ['https://user@localhost:443', 'protocol', 'ws'],
  ['https://example.net', 'protocol', 'mailto'],
  ['file://localhost/', 'protocol', 'http'],
  ['http://x:', 'protocol', ''],
  ['https://example.net', 'username', 'm@e:\u0000%zz'],
  ['file:///x', 'username', 'me'],
  ['mailto:a', 'password', 'me'],
  ['https://me:pw@example.net', 'password', ''],
  ['http://example.net', 'host', 'example.com:8080/x'],
  ['http://example.net:8080', 'host', 'example.com'],
  ['http://example.net', 'host', ''],
  ['http://example.net', 'host', '[::0:01]:2'],
  ['sc://x/', 'hostname', '\u0000'],
  ['sc://x/', 'hostname', 'x@y'],
  ['https://example.net', 'hostname', '0x1.2'],
  ['http://example.net', 'port', '  90'],
  ['http://example.net:8080', 'port', 'randomstring'],
  ['http://example.net:8080', 'port', '65536'],
  ['http://example.net:8080', 'port', null],
  ['https://example.net:3000', 'port', 443],
  ['http://a/b', 'pathname', '\\a\\%2E%2e\\c?x#y'],
  ['mailto:a', 'pathname', '/x'],
  ['foo:///some/path', 'pathname', ''],
  ['file:///x', 'pathname', '\\\\monkey'],
  ['https://example.net#nav', 'search', 'lang=fr'],
  ['https://example.net?en-US#nav', 'search', '??'],
  ['https://example.net?en-US#nav', 'search', ''],
  ['a:/', 'search', '\u0000\u0001\t\n\r\u001f !"#$%&\'()*+,-./\ud800é'],
  ['data:space ?test', 'search', ''],
  ['https://example.net', 'hash', 'main'],
  ['https://example.net?x#nav', 'hash', '##nav'],
  ['javascript:alert(1)', 'hash', 'castle "<>`'],
  ['https://example.net', 'href', 'http://b/?c=d'],
  ['https://example.net', 'href', 'b'],
  ['https://example.net', 'origin', 'http://b'],
]

/** Each ends with an expression. */
const queries: readonly string[] = [
  "new URLSearchParams('a=b+c%20d&%e1&&=&e=%c3x%28').toString()",
  "[...new URLSearchParams('?id=0&value=%')]",
  "[...new URLSearchParams('??a=b')]",
  "[...new URLSearchParams('b=%2sf%2a&a=%00b')]",
  "String(new URLSearchParams('a=~!*()_-.\\'\\u2384'))",
  '[...new URLSearchParams(null), ...new URLSearchParams(undefined), ...new URLSearchParams()]',
  'String(new URLSearchParams(5n)) + new URLSearchParams(true)',
  'new URLSearchParams(Symbol())',
  "[...new URLSearchParams(new URLSearchParams('a=b&a=c'))]",
  "[...new URLSearchParams(new Map([['a', 1], ['b', undefined]]))]",
  'new URLSearchParams([["a", "b", "c"]])',
  'new URLSearchParams([[]])',
  'new URLSearchParams(["ab"])',
  'new URLSearchParams([null])',
  'new URLSearchParams([1])',
  'new URLSearchParams({ [Symbol.iterator]: 1 })',
  '[...new URLSearchParams({ [Symbol.iterator]: null, a: 1 })]',
  '[...new URLSearchParams({ [Symbol.iterator]: undefined, a: 1 })]',
  "[...new URLSearchParams({ '\\ud835x': 1, xx: 2, '\\ud83dx': 3 })]",
  '[...new URLSearchParams(Object.create({ inherited: 1 }, { hidden: { value: 1 }, own: { value: 2, enumerable: true } }))]',
  'new URLSearchParams({ [Symbol("a")]: 1 })',
  '[...new URLSearchParams(Object.assign(() => 1, { a: 2 }))]',
  '[...new URLSearchParams({ get a() { return [1, 2] }, b: { toString: () => "x" } })]',
  "(() => { const p = new URLSearchParams('a=1&b=2&c=3'); const seen = []; for (const [k] of p) { seen.push(k); p.delete(k) } return [seen, String(p)] })()",
  "(() => { const p = new URLSearchParams('a=1'); const seen = []; for (const [k] of p) { seen.push(k); if (seen.length < 4) p.append('x', 1) } return seen })()",
  "(() => { const u = new URL('http://a.b/c?d=e'); const seen = []; for (const i of u.searchParams) { u.search = 'x=1&y=2&z=3'; seen.push(i) } return seen })()",
  "(() => { const p = new URLSearchParams('a=1&b=2'); const seen = []; p.forEach((v, k, all) => { seen.push([v, k, all === p]); p.delete('b') }); return seen })()",
  "(() => { const self = {}; let is; new URLSearchParams('a').forEach(function () { is = this === self }, self); return is })()",
  "new URLSearchParams('a').forEach()",
  "(() => { const p = new URLSearchParams('a=b&a=d&c&e&'); p.delete('a', 'b'); p.delete('c', undefined); return [String(p), p.has('a', 'd'), p.has('a', undefined), p.has('', ''), p.size] })()",
  "(() => { const p = new URLSearchParams('a=b&c=d&a=e'); p.set('a', '\\ud800'); p.set('f', null); return String(p) })()",
  "(() => { const p = new URLSearchParams('z=b&a=b&z=a&a=a&\\ufffd=1&\\ud83c\\udf08=2&ﬃ=3'); p.sort(); return [...p] })()",
  "(() => { const u = new URL('http://example/?z=b&a=b'); u.searchParams.sort(); return [u.href, u.search] })()",
  "(() => { const u = new URL('http://example/?'); u.searchParams.sort(); return [u.href, u.search] })()",
  "(() => { const u = new URL('http://example.com/?'); u.searchParams.delete('x'); return u.href })()",
  "(() => { const u = new URL('data:space    ?test'); u.searchParams.delete('test'); return [u.href, u.pathname] })()",
  "(() => { const u = new URL('http://a/?x=é y#z'); const p = u.searchParams; p.append('w', '&'); u.href = 'http://b/?n=1'; return [u.href, String(p), p === u.searchParams] })()",
  "(() => { const u = new URL('http://a/?x=1'); u.hash = 'h'; u.searchParams.set('x', 2); return u.href })()",
  "(() => { const u = new URL('http://a/?x=1'); u.searchParams = 5; return [...u.searchParams] })()",
  "(() => { 'use strict'; const u = new URL('http://a/?x=1'); u.searchParams = 5 })()",
  "new URLSearchParams('a').append('b')",
  "new URLSearchParams('a').append()",
  "new URLSearchParams('a').delete()",
  "new URLSearchParams('a').get()",
  "new URLSearchParams('a').getAll()",
  "new URLSearchParams('a').has()",
  "new URLSearchParams('a').set('b')",
  'URL.canParse()',
  'URL.parse()',
  'new URL(undefined)',
  'new URL(Symbol())',
  "new URL('x', null)",
  "new URL('x', undefined)",
  "new URL(new URL('http://a/b'), new URL('http://c/')).href",
  "String(new URL('/x', new URL('http://c/d')))",
  'URLSearchParams("a")',
  "URLSearchParams.prototype.get.call({}, 'a')",
  "Object.getOwnPropertyDescriptor(URL.prototype, 'href').get.call({})",
  "[URLSearchParams.prototype[Symbol.iterator] === URLSearchParams.prototype.entries, Object.prototype.toString.call(new URL('a:b'))]",
  "[typeof new URLSearchParams('a').keys().next, [...new URLSearchParams('a=1&b').values()]]",
  "[Object.keys(URL.prototype).sort(), Object.keys(URLSearchParams.prototype).sort(), Object.keys(new URL('a:b'))]",
  "structuredClone({ href: new URL('http://a/?b').href })",
]

const topics: Readonly<Record<string, string>> = {
  parsing: `${JSON.stringify(inputs)}.map(([input, base]) => attempt(() => tell(new URL(input, base))))`,
  'whether it parses': `${JSON.stringify(inputs)}.map(([input, base]) => [URL.canParse(input, base), URL.parse(input, base)?.href])`,
  setters: `${JSON.stringify(changes)}.map(([href, part, value]) => attempt(() => {
    const url = new URL(href)
    url[part] = value
    return tell(url)
  }))`,
}

const prelude = `
  const attempt = (act) => { try { return act() ?? null } catch (error) { return error.name } }
  const tell = (url) => ${JSON.stringify(parts)}.map((part) => url[part]).concat([url.search, url.hash, [...url.searchParams]])`

for (const [topic, expression] of Object.entries(topics))
  test(`${topic}: as in Node`, async () => {
    const [ours, theirs] = await both(expression)
    assert.deepEqual(ours, theirs)
    assert.ok((theirs as unknown[]).length > 30)
  })

for (const expression of queries)
  test(`${expression}: as in Node`, async () => {
    const [ours, theirs] = await both(`[attempt(() => ${expression})]`)
    assert.deepEqual(ours, theirs)
  })

async function both(expression: string): Promise<[ours: unknown, theirs: unknown]> {
  const ended = await runIsolate({ source: `${prelude}\noutput = ${expression}` })
  assert.ok('output' in ended, JSON.stringify(ended).slice(0, 500))
  // oxlint-disable-next-line no-eval -- Node's own result
  const theirs: unknown = (0, eval)(`(() => {${prelude}\nreturn ${expression} })()`)
  return [ended.output, JSON.parse(JSON.stringify(theirs))]
}
