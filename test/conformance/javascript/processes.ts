/** Node's documentation of the process, its streams, children and workers. */
import { type ConformanceProgram, valueOf } from './program.ts'

export const processes: readonly ConformanceProgram[] = [
  ...valueOf('Node: Process', [
    [
      'the surroundings of the program',
      '[process.cwd(), process.env.HOME, process.env.TZ, process.platform, process.title.length > 0, typeof process.pid]',
      ['/workspace', '/workspace', 'UTC', 'linux', true, 'number'],
    ],
    ['no variable of the host', 'Object.keys(process.env).sort()', ['HOME', 'LANG', 'PATH', 'TZ', 'USER']],
    [
      'process.nextTick with arguments, before setImmediate',
      'const a = []; setImmediate((x) => a.push(x), "immediate"); process.nextTick((x) => a.push(x), "tick"); await new Promise((r) => setTimeout(r, 5)); a',
      ['tick', 'immediate'],
    ],
    [
      'process.hrtime, uptime and memoryUsage',
      '[typeof process.hrtime.bigint(), process.uptime() > 0, process.memoryUsage().rss > 0]',
      ['bigint', true, true],
    ],
    [
      'timers that are cancelled, kept and refreshed',
      'const { setTimeout: wait } = require("timers/promises"); const t = setTimeout(() => {}, 1e6); t.unref(); clearTimeout(t); [t.hasRef(), await wait(1, "v")]',
      [false, 'v'],
    ],
  ]),
  {
    title: 'arguments',
    from: 'Node: process.argv',
    code: 'process.argv.slice(1)',
    args: ['--x', 'a b', ''],
    expected: { value: ['<code>', '--x', 'a b', ''] },
  },
  {
    title: 'variables of the request',
    from: 'Node: process.env',
    code: '[process.env.A, process.env.NONE]',
    env: { A: 'ä b' },
    expected: { value: ['ä b', undefined] },
  },
  {
    title: 'the input',
    from: 'Lazaret: input',
    code: '[input.a.get("k"), input.d.getTime(), input.n]',
    input: { a: new Map([['k', 1n]]), d: new Date(5), n: null },
    expected: { value: [1n, 5, null] },
  },
  {
    title: 'process.exit in the middle of things',
    from: 'Node: process.exit',
    code: 'setTimeout(() => console.log("never"), 5); console.log("a"); process.exit(3); console.log("b")',
    expected: { exitCode: 3, stdout: 'a\n', logs: [['log', 'a']] },
  },
  {
    title: 'process.exit below await',
    from: 'Node: process.exit',
    code: 'await 0; process.exit()',
    expected: {},
  },
  {
    title: 'process.exitCode beside a value',
    from: 'Node: process.exitCode',
    code: 'process.exitCode = 4; 5',
    expected: { exitCode: 4, value: 5 },
  },
  {
    title: 'exit and beforeExit listeners',
    from: 'Node: Process events',
    code: 'process.once("beforeExit", () => { console.log("before"); setTimeout(() => console.log("more"), 1) }); process.on("exit", (c) => console.log("exit", c)); 0',
    expected: {
      value: 0,
      stdout: 'before\nmore\nexit 0\n',
      logs: [
        ['log', 'before'],
        ['log', 'more'],
        ['log', 'exit 0'],
      ],
    },
  },
  {
    title: 'an exit listener that runs first, and only once',
    from: 'Node: Process events',
    code: 'process.prependOnceListener("exit", () => { process.exitCode = 6 }); 1',
    expected: { value: 1, exitCode: 6 },
  },
  {
    title: 'an exit listener that removes one which follows it',
    from: 'Node: Process events',
    code: 'const last = () => { const until = Date.now() + 30; while (Date.now() < until); console.log("last") }; process.prependOnceListener("exit", () => process.off("exit", last)); process.on("exit", last); 1',
    expected: { value: 1, stdout: 'last\n', logs: [['log', 'last']] },
  },
  {
    title: 'work at the end by a replaced process.emit, as signal-exit has it',
    from: 'Node: Process events',
    code: 'const { emit } = process; process.emit = function (event, ...rest) { const is = emit.call(this, event, ...rest); if (event === "exit") { const until = Date.now() + 30; while (Date.now() < until); console.log("last") } return is }; 1',
    expected: { value: 1, stdout: 'last\n', logs: [['log', 'last']] },
    differs: { bun: { reason: 'It does not call a replaced process.emit.', expected: { value: 1 } } },
  },
  {
    title: 'a listener for uncaught errors, after which the program lives on',
    from: 'Node: uncaughtException',
    code: 'process.on("uncaughtException", (e, origin) => console.log(e.message, origin)); setTimeout(() => { throw new Error("x") }, 1); 1',
    expected: { value: 1, stdout: 'x uncaughtException\n', logs: [['log', 'x uncaughtException']] },
  },
  {
    title: 'a listener for rejections',
    from: 'Node: unhandledRejection',
    code: 'process.on("unhandledRejection", (r) => console.log("got", r)); Promise.reject(7); 1',
    expected: { value: 1, stdout: 'got 7\n', logs: [['log', 'got 7']] },
  },
  {
    title: 'an await that never ends',
    from: 'Node: exit code 13',
    code: 'await new Promise(() => {})',
    expected: { exitCode: 13, stderr: /awaited something at its top level/ },
  },
  {
    title: 'standard input as a stream of lines',
    from: 'Node: Readline',
    code: 'const lines = []; for await (const l of require("readline").createInterface({ input: process.stdin })) lines.push(l); lines',
    stdin: 'a\nb ä\nc',
    expected: { value: ['a', 'b ä', 'c'] },
  },
  {
    title: 'standard input all at once',
    from: 'Node: fs.readFileSync',
    code: 'require("fs").readFileSync(0, "utf8").length',
    stdin: 'x'.repeat(100_000),
    expected: { value: 100_000 },
  },
  {
    title: 'standard input by events',
    from: 'Node: process.stdin',
    code: 'let text = ""; process.stdin.setEncoding("utf8"); process.stdin.on("data", (d) => (text += d)); await new Promise((r) => process.stdin.on("end", r)); text',
    stdin: 'by events',
    expected: { value: 'by events' },
  },
  {
    title: 'standard input that is empty',
    from: 'Node: process.stdin',
    code: 'let n = 0; for await (const c of process.stdin) n += c.length; n',
    expected: { value: 0 },
  },
  ...valueOf('Node: Child process', [
    [
      'execFileSync, and spawn with streams',
      'const { execFileSync, spawn } = require("child_process"); const c = spawn("cat"); c.stdin.end("piped"); let out = ""; c.stdout.on("data", (d) => (out += d)); const [code] = await require("events").once(c, "close"); [execFileSync("echo", ["hi"]).toString(), out, code]',
      ['hi\n', 'piped', 0],
    ],
    [
      'exec with a failing command',
      'const { exec } = require("child_process"); const e = await new Promise((r) => exec("echo out; echo err >&2; exit 3", (e, so, se) => r([e.code, so, se]))); e',
      [3, 'out\n', 'err\n'],
    ],
    [
      'the runtime itself as a child',
      'const { status, stdout } = require("child_process").spawnSync(process.execPath, ["-e", "console.log(6 * 7)"], { encoding: "utf8" }); [status, stdout]',
      [0, '42\n'],
    ],
    [
      'a child that is killed',
      'const { spawn } = require("child_process"); const c = spawn("sleep", ["100"]); c.kill("SIGTERM"); const [code, signal] = await require("events").once(c, "exit"); [code, signal]',
      [null, 'SIGTERM'],
    ],
    [
      'a command that is not there',
      'const e = await new Promise((r) => require("child_process").execFile("no-such-command", r)); e.code',
      'ENOENT',
    ],
  ]),
  ...valueOf('Node: Worker threads', [
    [
      'a worker that answers with shared memory',
      'const { Worker } = require("worker_threads"); const shared = new Int32Array(new SharedArrayBuffer(4)); const w = new Worker("const { parentPort, workerData } = require(\'worker_threads\'); Atomics.add(workerData, 0, 20); parentPort.on(\'message\', (n) => { parentPort.postMessage(n * 2); parentPort.close() })", { eval: true, workerData: shared }); const { once } = require("events"); const exited = once(w, "exit"); w.postMessage(21); const [answer] = await once(w, "message"); await exited; [answer, shared[0]]',
      [42, 20],
    ],
    [
      'messages over a channel',
      'const { port1, port2 } = new MessageChannel(); port1.postMessage({ d: new Date(1) }); const m = await new Promise((r) => port2.on ? port2.on("message", r) : (port2.onmessage = (e) => r(e.data))); port1.close(); m.d.getTime()',
      1,
    ],
  ]),
  {
    title: 'a connection, which fails at once',
    from: 'Node: Net',
    code: 'await new Promise((r) => require("net").connect(80, "192.0.2.1").on("error", (e) => r(e.code)).on("connect", () => r("reached")))',
    expected: { value: 'ENETUNREACH' },
    differs: {
      bun: {
        reason: 'Bun has one code for every connection that fails.',
        expected: { value: 'ECONNREFUSED' },
      },
    },
  },
  {
    title: 'a child that runs TypeScript with an enum',
    from: 'Node: Modules: TypeScript',
    files: { 'enum.ts': 'enum E { A = 1 }\nconsole.log(E.A)' },
    code: 'require("child_process").spawnSync(process.execPath, ["enum.ts"], { encoding: "utf8" }).stdout',
    expected: { value: '1\n' },
    differs: {
      node: {
        reason:
          'A Node that the program starts itself has only its own support for TypeScript, which strips types.',
        expected: { value: '' },
      },
    },
  },
  {
    title: 'the console of a worker, which writes to stdout alone',
    from: 'Node: Worker threads',
    code: 'const w = new (require("worker_threads").Worker)("console.log(\'from the worker\')", { eval: true }); await require("events").once(w, "exit"); 0',
    expected: { value: 0, stdout: 'from the worker\n', logs: [] },
  },
  {
    title: 'a worker in a TypeScript file with an enum',
    from: 'Node: Modules: TypeScript',
    files: {
      'worker.ts':
        'import { parentPort } from "node:worker_threads"\nenum E { A = 1 }\nparentPort?.postMessage(E.A)',
    },
    code: 'const w = new (require("worker_threads").Worker)("./worker.ts"); await new Promise((r) => { w.on("message", r); w.on("error", (e) => r(e.code)) })',
    expected: { value: 1 },
  },
  {
    title: 'a worker at a URL, with imports as TypeScript writes them, flags and a worker of its own',
    from: 'Node: Worker threads',
    files: {
      'outer.ts':
        'import { parentPort, Worker } from "node:worker_threads"\nimport { E } from "./e"\nconst w = new Worker(new URL("./inner.ts", import.meta.url), { workerData: [E.A, process.execArgv] })\nw.on("message", (m) => parentPort?.postMessage(m))',
      'inner.ts':
        'import { parentPort, workerData } from "node:worker_threads"\nimport { E } from "./e"\nparentPort?.postMessage([...workerData, E.B])',
      'e.ts': 'export enum E { A = 1, B }',
    },
    code: 'import { Worker } from "node:worker_threads"\nclass Mine extends Worker {}\nconst w = new Mine(new URL("./outer.ts", import.meta.url), { execArgv: [] }); const m = await new Promise((r) => { w.on("message", r); w.on("error", (e) => r(String(e))) }); [m, w instanceof Worker, w instanceof Mine]',
    expected: { value: [[1, [], 2], true, true] },
  },
  ...valueOf('Node: Global fetch, dns, net without a network', [
    [
      'fetch, which fails at once',
      `await fetch("http://example.com/").then(() => "reached", (e) => e instanceof Error)`,
      true,
    ],
    [
      'a name, which is not found',
      'await require("dns").promises.lookup("example.com").then(() => "found", (e) => typeof e.code)',
      'string',
    ],
    [
      'a server on its own loopback',
      'const s = require("http").createServer((q, a) => a.end("hello " + q.url)); await new Promise((r) => s.listen(0, "127.0.0.1", r)); const t = await (await fetch(`http://127.0.0.1:${s.address().port}/x`)).text(); s.closeAllConnections(); s.close(); t',
      'hello /x',
    ],
  ]),
]
