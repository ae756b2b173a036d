/**
 * Parts of random programs. Each is an expression with a known value, and needs something that a fork may lack: threads,
 * locks, compilers, collectors, wakeups, processes.
 */
export interface Part {
  /** `$` stands for a random number from 1 to 100. */
  readonly expression: string
  readonly value: (size: number) => number
}

const constant = (value: number) => (): number => value
const size = (value: number): number => value

const wasm =
  '[0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 127, 3, 2, 1, 0, 7, 5, 1, 1, 97, 0, 0, 10, 6, 1, 4, 0, 65, 42, 11]'
const sharedMemory = 'new Int32Array(new SharedArrayBuffer(8))'

/** In Node and Bun. */
export const javascriptParts: readonly Part[] = [
  // Collectors: strings, objects, memory outside the heap, two-byte strings.
  {
    expression:
      '(() => { let s = ""; for (let i = 0; i < 2000 * $; i++) s += i % 10; return s.length / 2000 })()',
    value: size,
  },
  {
    expression:
      '(() => { const a = []; for (let i = 0; i < 1000 * $; i++) a.push({ i }); return a.length / 1000 })()',
    value: size,
  },
  {
    expression:
      '(() => { let n = 0; for (let i = 0; i < $; i++) n += new Uint8Array(1e5).length; return n / 1e5 })()',
    value: size,
  },
  {
    expression:
      'JSON.parse(JSON.stringify(Array.from({ length: 100 * $ }, (_, i) => ({ i, t: "é€" + i })))).length / 100',
    value: size,
  },
  { expression: 'structuredClone(Array.from({ length: 500 * $ }, (_, i) => i)).length / 500', value: size },
  { expression: '(() => { globalThis.Bun?.gc($ % 2 === 0); return 1 })()', value: constant(1) },
  {
    expression:
      '(() => { const r = new FinalizationRegistry(() => {}); for (let i = 0; i < 100 * $; i++) r.register({}, i); return 2 })()',
    value: constant(2),
  },
  {
    expression:
      '(() => { const m = new WeakMap(); for (let i = 0; i < 200 * $; i++) m.set({}, i); return 3 })()',
    value: constant(3),
  },
  // Compilers.
  { expression: 'new Function("return " + "1+".repeat(20 * $) + "0")() / 20', value: size },
  {
    expression: '(() => { const f = (n) => n < 2 ? n : f(n - 1) + f(n - 2); return f(16) })()',
    value: constant(987),
  },
  {
    expression:
      '(() => { let n = 0; for (let i = 0; i < 20000 * $; i++) n = (n + i) % 7; return n >= 0 ? 4 : 0 })()',
    value: constant(4),
  },
  { expression: '(/^(a+)b/.exec("a".repeat($) + "b")[1].length)', value: size },
  {
    expression: `(new WebAssembly.Instance(new WebAssembly.Module(new Uint8Array(${wasm}))).exports.a())`,
    value: constant(42),
  },
  {
    expression: `((await WebAssembly.instantiate(new Uint8Array(${wasm}))).instance.exports.a())`,
    value: constant(42),
  },
  { expression: 'require("node:vm").runInNewContext("[1, 2, 3].length")', value: constant(3) },
  // Waits and wakeups.
  { expression: `(Atomics.wait(${sharedMemory}, 0, 0, $ / 20), 5)`, value: constant(5) },
  { expression: `(await Atomics.waitAsync(${sharedMemory}, 0, 0, $ / 20).value, 6)`, value: constant(6) },
  { expression: '(await new Promise((r) => setTimeout(r, $ / 10)), 7)', value: constant(7) },
  { expression: '(await new Promise((r) => setImmediate(r)), 8)', value: constant(8) },
  {
    expression:
      '(await new Promise((r) => { const { port1, port2 } = new MessageChannel(); port2.onmessage = () => { port1.close(); r(9) }; port1.postMessage(1) }))',
    value: constant(9),
  },
  // Thread pools.
  { expression: 'require("node:crypto").scryptSync("a", "b", 32, { N: 256 }).length', value: constant(32) },
  {
    expression: '(await new Promise((r) => require("node:crypto").randomBytes($, (_, b) => r(b.length))))',
    value: size,
  },
  {
    expression:
      '(await new Promise((r) => require("node:crypto").pbkdf2("a", "b", 100, 16, "sha256", (_, b) => r(b.length))))',
    value: constant(16),
  },
  {
    expression: '((await crypto.subtle.digest("SHA-256", new Uint8Array($))).byteLength)',
    value: constant(32),
  },
  {
    expression: '((await require("node:fs").promises.readFile("/proc/self/stat")).length > 0 ? 10 : 0)',
    value: constant(10),
  },
  {
    expression:
      '(require("node:zlib").gunzipSync(require("node:zlib").gzipSync("x".repeat(1000 * $))).length / 1000)',
    value: size,
  },
  {
    expression: '(await new Promise((r) => require("node:zlib").gzip("x".repeat(1000 * $), () => r(11))))',
    value: constant(11),
  },
  {
    expression: '(await require("node:dns").promises.lookup("localhost").then(() => 12, () => 12))',
    value: constant(12),
  },
  // Threads and processes of the program.
  {
    expression: `(await new Promise((ok, no) => { const { Worker } = require("node:worker_threads"); const w = new Worker("require('node:worker_threads').parentPort.postMessage($)", { eval: true }); w.on("message", ok); w.on("error", no) }))`,
    value: size,
  },
  { expression: '(require("node:child_process").spawnSync("true").status + 13)', value: constant(13) },
  {
    expression: '(await new Promise((r) => require("node:child_process").exec("exit 14", (e) => r(e.code))))',
    value: constant(14),
  },
  { expression: '(await fetch("http://127.0.0.1:1").catch(() => 15))', value: constant(15) },
  { expression: '(new Intl.DateTimeFormat("de").format(0).length > 0 ? 16 : 0)', value: constant(16) },
]

export const pythonHead = `import asyncio, concurrent.futures, gc, hashlib, json, multiprocessing, os, queue, select
import signal, socket, subprocess, sys, threading, time, weakref, zlib
`

export const pythonParts: readonly Part[] = [
  // Memory.
  { expression: 'len([{"i": i} for i in range(1000 * $)]) // 1000', value: size },
  { expression: 'len("é€" * 1000 * $) // 2000', value: size },
  {
    expression: 'len(json.loads(json.dumps([{"i": i, "t": "é€"} for i in range(100 * $)]))) // 100',
    value: size,
  },
  { expression: '(gc.collect(), 1)[1]', value: constant(1) },
  { expression: '(weakref.finalize(type("A", (), {})(), int), gc.collect(), 2)[2]', value: constant(2) },
  { expression: 'eval("+".join(["1"] * $))', value: size },
  // Threads.
  {
    expression: 'sum(concurrent.futures.ThreadPoolExecutor(4).map(int, range($ + 1))) * 2 // ($ + 1)',
    value: size,
  },
  {
    expression:
      '(lambda q: [threading.Thread(target=q.put, args=(i,)).start() for i in range(8)] and sum(q.get() for _ in range(8)))(queue.Queue())',
    value: constant(28),
  },
  {
    expression: '(lambda e: (threading.Timer($ / 20000, e.set).start(), e.wait(), 3)[2])(threading.Event())',
    value: constant(3),
  },
  {
    expression:
      '(lambda t: (t.start(), t.join(), 4)[2])(threading.Thread(target=print, args=("x" * 100 * $,)))',
    value: constant(4),
  },
  { expression: '(threading.Thread(target=time.sleep, args=(0.01,)).start(), 5)[1]', value: constant(5) },
  {
    expression:
      '(lambda l: (l.acquire(), threading.Thread(target=l.release).start(), l.acquire(), 6)[3])(threading.Lock())',
    value: constant(6),
  },
  // Event loops.
  { expression: 'asyncio.run(asyncio.sleep($ / 20000, 7))', value: constant(7) },
  { expression: 'asyncio.run(asyncio.to_thread(int, $))', value: size },
  { expression: 'asyncio.run(asyncio.wait_for(asyncio.to_thread(int, 8), 50))', value: constant(8) },
  { expression: 'select.select([], [], [], $ / 20000) and 9', value: constant(9) },
  // Processes.
  { expression: 'subprocess.run(["true"]).returncode + 10', value: constant(10) },
  {
    expression: 'len(subprocess.run(["cat"], input=b"x" * 1000 * $, capture_output=True).stdout) // 1000',
    value: size,
  },
  {
    expression:
      '(lambda p: os._exit($) if p == 0 else os.waitstatus_to_exitcode(os.waitpid(p, 0)[1]))(os.fork())',
    value: size,
  },
  {
    expression:
      '(lambda p: (p.start(), p.join(), p.exitcode + 11)[2])(multiprocessing.get_context("fork").Process(target=int))',
    value: constant(11),
  },
  { expression: 'sum(multiprocessing.get_context("fork").Pool(2).map(int, range(8)))', value: constant(28) },
  { expression: 'os.system("exit 12") >> 8', value: constant(12) },
  // Signals, pipes, libraries with locks of their own.
  {
    expression:
      '(lambda seen: (signal.signal(signal.SIGALRM, lambda *_: seen.append(1)), signal.setitimer(signal.ITIMER_REAL, 0.001), [time.sleep(0.001) for _ in iter(lambda: bool(seen), True)], 13)[3])([])',
    value: constant(13),
  },
  {
    expression: '(lambda a, b: (a.send(b"x" * $), len(b.recv(1000)))[1])(*socket.socketpair())',
    value: size,
  },
  { expression: 'len(hashlib.scrypt(b"a", salt=b"b", n=256, r=8, p=1))', value: constant(64) },
  { expression: 'len(zlib.decompress(zlib.compress(b"x" * 1000 * $))) // 1000', value: size },
  { expression: '(sys.stdout.write("x" * 100 * $ + "\\n"), sys.stdout.flush(), 14)[2]', value: constant(14) },
]
