/** Node's documentation of its library, and the web's interfaces that both engines have. */
import { type ConformanceProgram, valueOf } from './program.ts'

export const interfaces: readonly ConformanceProgram[] = [
  ...valueOf('Node: Buffer', [
    [
      'encodings',
      '[Buffer.from("ä€").toString("hex"), Buffer.from("aGk=", "base64").toString(), Buffer.from("hi").toString("base64url"), Buffer.byteLength("€")]',
      ['c3a4e282ac', 'hi', 'aGk', 3],
    ],
    [
      'numbers, slices and comparison',
      'const b = Buffer.alloc(8); b.writeUInt32BE(0xdeadbeef, 0); b.writeDoubleLE; [b.readUInt16BE(0), b.subarray(2, 4).toString("hex"), Buffer.compare(Buffer.from("a"), Buffer.from("b")), Buffer.concat([Buffer.from("a"), Buffer.from("b")]).equals(Buffer.from("ab"))]',
      [0xdead, 'beef', -1, true],
    ],
    [
      'Blob, File and atob',
      '[await new Blob(["a", new Uint8Array([98])]).text(), new File(["x"], "n.txt").name, atob(btoa("ok"))]',
      ['ab', 'n.txt', 'ok'],
    ],
  ]),
  ...valueOf('Node: Streams', [
    [
      'pipelines with transforms',
      'const { pipeline } = require("stream/promises"); const { Readable, Transform } = require("stream"); const out = []; await pipeline(Readable.from(["a", "b"]), new Transform({ objectMode: true, transform(c, e, d) { d(null, String(c).toUpperCase()) } }), async function (s) { for await (const c of s) out.push(String(c)) }); out',
      ['A', 'B'],
    ],
    [
      'web streams',
      'const r = new ReadableStream({ start(c) { c.enqueue("x"); c.enqueue("y"); c.close() } }); const a = []; for await (const c of r.pipeThrough(new TransformStream({ transform(c, o) { o.enqueue(c + c) } }))) a.push(c); a',
      ['xx', 'yy'],
    ],
    [
      'compression',
      'const z = require("zlib"); [z.gunzipSync(z.gzipSync("zip")).toString(), z.brotliDecompressSync(z.brotliCompressSync("br")).toString(), await new Response(new Blob(["w"]).stream().pipeThrough(new CompressionStream("gzip")).pipeThrough(new DecompressionStream("gzip"))).text()]',
      ['zip', 'br', 'w'],
    ],
    [
      'stream consumers',
      'const { text } = require("stream/consumers"); await text(require("stream").Readable.from(["a", "b"]))',
      'ab',
    ],
  ]),
  ...valueOf('Node: File system', [
    [
      'files and folders',
      'const fs = require("fs"); fs.mkdirSync("d/e", { recursive: true }); fs.writeFileSync("d/e/f", "x"); fs.appendFileSync("d/e/f", "y"); fs.symlinkSync("e/f", "d/l"); [fs.readFileSync("d/l", "utf8"), fs.readdirSync("d", { recursive: true }).sort(), fs.statSync("d/e/f").size, fs.lstatSync("d/l").isSymbolicLink()]',
      ['xy', ['e', 'e/f', 'l'], 2, true],
    ],
    [
      'promises, handles and opendir',
      'const fs = require("fs/promises"); await fs.writeFile("a", "123"); const h = await fs.open("a", "r+"); await h.write("9", 0); const s = (await h.stat()).size; await h.close(); const names = []; for await (const e of await fs.opendir(".")) names.push(e.name); [await fs.readFile("a", "utf8"), s, names]',
      ['923', 3, ['a']],
    ],
    [
      'streams of files, temporary folders and removal',
      'const fs = require("fs"); const d = fs.mkdtempSync(require("os").tmpdir() + "/t-"); await require("stream/promises").pipeline(["q"], fs.createWriteStream(d + "/w")); const t = fs.readFileSync(d + "/w", "utf8"); fs.rmSync(d, { recursive: true }); [t, fs.existsSync(d)]',
      ['q', false],
    ],
    [
      'errors with a code',
      'const e = await require("fs/promises").readFile("none").catch((e) => e); [e.code, e.syscall, e.path]',
      ['ENOENT', 'open', 'none'],
    ],
  ]),
  ...valueOf('Node: Crypto', [
    [
      'hashes, HMAC and random bytes',
      'const c = require("crypto"); [c.createHash("sha256").update("abc").digest("hex").slice(0, 8), c.createHmac("sha1", "k").update("d").digest("hex").slice(0, 8), c.randomBytes(4).length, c.randomUUID().length, c.timingSafeEqual(Buffer.from("a"), Buffer.from("a"))]',
      ['ba7816bf', '2b90e41e', 4, 36, true],
    ],
    [
      'ciphers and derived keys',
      'const c = require("crypto"); const key = c.scryptSync("p", "s", 32); const e = c.createCipheriv("aes-256-gcm", key, Buffer.alloc(12)); const t = Buffer.concat([e.update("secret"), e.final()]); const d = c.createDecipheriv("aes-256-gcm", key, Buffer.alloc(12)); d.setAuthTag(e.getAuthTag()); d.update(t, undefined, "utf8") + d.final("utf8")',
      'secret',
    ],
    [
      'signatures',
      'const c = require("crypto"); const { publicKey, privateKey } = c.generateKeyPairSync("ed25519"); c.verify(null, Buffer.from("m"), publicKey, c.sign(null, Buffer.from("m"), privateKey))',
      true,
    ],
    [
      'Web Crypto',
      'const d = await crypto.subtle.digest("SHA-256", new TextEncoder().encode("abc")); [new Uint8Array(d)[0], crypto.getRandomValues(new Uint8Array(2)).length]',
      [0xba, 2],
    ],
  ]),
  ...valueOf('Node: Events, util, path, url, querystring, os', [
    [
      'event emitters',
      'const { EventEmitter, once } = require("events"); const e = new EventEmitter(); setTimeout(() => e.emit("x", 1, 2), 1); const a = await once(e, "x"); [a, e.listenerCount("x")]',
      [[1, 2], 0],
    ],
    [
      'EventTarget, AbortController and AbortSignal.timeout',
      'const c = new AbortController(); let n = 0; c.signal.addEventListener("abort", () => n++); c.abort("why"); [n, c.signal.reason, await new Promise((r) => { const s = AbortSignal.timeout(1); s.onabort = () => r(s.reason.name); setTimeout(() => {}, 50) })]',
      [1, 'why', 'TimeoutError'],
    ],
    [
      'util.promisify, inspect, format, isDeepStrictEqual and parseArgs',
      'const u = require("util"); [await u.promisify((a, cb) => cb(null, a + 1))(1), u.inspect({ a: 1 }), u.format("%s", "x"), u.isDeepStrictEqual([1], [1]), u.parseArgs({ args: ["-v"], options: { v: { type: "boolean", short: "v" } } }).values.v, u.stripVTControlCharacters("\\u001b[31mx\\u001b[39m")]',
      [2, '{ a: 1 }', 'x', true, true, 'x'],
    ],
    [
      'path',
      'const p = require("path"); [p.join("/a", "..", "b"), p.resolve("x"), p.relative("/a/b", "/a/c"), p.parse("/x/y.tar.gz").ext, p.win32.basename("C:\\\\a")]',
      ['/b', '/workspace/x', '../c', '.gz', 'a'],
    ],
    [
      'URL and URLSearchParams',
      'const u = new URL("../c?d=1#e", "https://user:pw@exämple.com:8080/a/b/"); u.searchParams.append("f", "g h"); [u.href, u.hostname, URL.canParse("nope"), [...new URLSearchParams("a=1&a=2").getAll("a")]]',
      ['https://user:pw@xn--exmple-cua.com:8080/a/c?d=1&f=g+h#e', 'xn--exmple-cua.com', false, ['1', '2']],
    ],
    [
      'text encoders and decoders',
      '[...new TextEncoder().encode("€"), new TextDecoder("utf-16le").decode(Uint8Array.of(65, 0)), new TextDecoder("utf-8", { fatal: false }).decode(Uint8Array.of(255))]',
      [226, 130, 172, 'A', '\ufffd'],
    ],
    [
      'AsyncLocalStorage',
      'const { AsyncLocalStorage } = require("async_hooks"); const s = new AsyncLocalStorage(); await s.run(5, async () => { await 0; return s.getStore() })',
      5,
    ],
    [
      'performance and os',
      'const { performance: p } = require("perf_hooks"); [p.now() > 0, typeof p.mark("m").startTime, require("os").EOL, require("os").platform()]',
      [true, 'number', '\n', 'linux'],
    ],
    [
      'assert',
      'const a = require("assert"); a.deepStrictEqual({ a: [1] }, { a: [1] }); a.throws(() => { throw new TypeError("x") }, TypeError); await a.rejects(Promise.reject(new Error("y")), /y/); 1',
      1,
    ],
    ['vm and diagnostics', 'const vm = require("vm"); vm.runInNewContext("a + 1", { a: 4 })', 5],
    [
      'headers, requests and responses',
      'const r = new Response(JSON.stringify({ a: 1 }), { status: 201, headers: { "X-A": "b" } }); const f = new FormData(); f.set("k", "v"); [r.status, r.headers.get("x-a"), await r.json(), f.get("k"), new Request("http://a/", { method: "POST", body: "b" }).method]',
      [201, 'b', { a: 1 }, 'v', 'POST'],
    ],
    [
      'v8 and string_decoder',
      'const v = require("v8"); [v.deserialize(v.serialize({ a: 1n })), new (require("string_decoder").StringDecoder)("utf8").write(Buffer.from([0xe2, 0x82]))]',
      [{ a: 1n }, ''],
    ],
    [
      'node:sqlite or bun:sqlite being there',
      'typeof (process.versions.bun ? require("bun:sqlite").Database : require("node:sqlite").DatabaseSync)',
      'function',
    ],
    ['node:test inside a program', 'typeof require("node:test").test', 'function'],
  ]),
]
