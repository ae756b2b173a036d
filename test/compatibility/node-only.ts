/** Programs for features that only Node has, or whose output differs in Bun. */
import type { CompatibilityProgram } from './program.ts'

export const nodeOnly: readonly CompatibilityProgram[] = [
  {
    title: 'fs/promises: watch as an iterator, glob, opendir of a whole tree',
    code: `
import { glob, mkdir, opendir, watch, writeFile } from 'node:fs/promises'
await mkdir('a/b', { recursive: true })
const events = watch('a/b')
const first = events.next()
await writeFile('a/b/c.txt', '')
console.log((await first).value.filename)
await events.return()
for await (const path of glob('**/*.txt')) console.log(path)
const names = []
for await (const entry of await opendir('a', { recursive: true })) names.push(entry.name)
console.log(names.sort().join(' '))`,
    prints: 'c.txt\na/b/c.txt\nb c.txt\n',
  },
  {
    title: 'node:sqlite: a file with a write-ahead log, transactions, functions, a backup',
    code: `
import { backup, DatabaseSync } from 'node:sqlite'
const database = new DatabaseSync('data.db')
console.log(database.prepare('PRAGMA journal_mode = WAL').get().journal_mode)
database.exec('CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT, blob BLOB)')
const insert = database.prepare('INSERT INTO item (name, blob) VALUES (?, ?)')
database.exec('BEGIN')
for (let index = 0; index < 1000; index++) insert.run('item ' + index, new Uint8Array(100))
database.exec('COMMIT')
database.function('twice', (number) => number * 2)
console.log(database.prepare('SELECT twice(count(*)) AS n, max(length(blob)) AS size FROM item').get().n)
await backup(database, 'copy.db')
database.close()
console.log(new DatabaseSync('copy.db', { readOnly: true }).prepare('SELECT name FROM item WHERE id = 1000').get().name)`,
    prints: 'wal\n2000\nitem 999\n',
  },
  {
    title: 'cluster: two processes share one port',
    files: {
      'worker.mjs':
        'import { createServer } from "node:http"\nimport cluster from "node:cluster"\ncreateServer((request, response) => response.end("worker " + cluster.worker.id)).listen(0, "127.0.0.1")\n',
    },
    code: `
import cluster from 'node:cluster'
import { once } from 'node:events'
cluster.setupPrimary({ exec: 'worker.mjs' })
const workers = [cluster.fork(), cluster.fork()]
const [first, second] = await Promise.all(workers.map((worker) => once(worker, 'listening')))
console.log(first[0].port === second[0].port)
const seen = new Set()
for (let index = 0; index < 20; index++) seen.add(await (await fetch('http://127.0.0.1:' + first[0].port, { headers: { connection: 'close' } })).text())
console.log([...seen].sort().join(', '))
for (const worker of workers) worker.kill()
await Promise.all(workers.flatMap((worker) => [once(worker, 'exit'), once(worker, 'disconnect')]))
console.log(Object.keys(cluster.workers).length)`,
    prints: 'true\nworker 1, worker 2\n0\n',
  },
  {
    title: 'fork with structured clones, a handle that is sent to the child',
    files: {
      'child.mjs':
        'process.on("message", ({ big, when }, server) => {\n  server.on("connection", (socket) => socket.end("by the child"))\n  process.send({ big: big + 1n, year: when.getUTCFullYear() })\n})\n',
    },
    code: `
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { text } from 'node:stream/consumers'
const server = createServer().listen(0, '127.0.0.1')
await once(server, 'listening')
const { port } = server.address()
const child = fork('./child.mjs', { serialization: 'advanced' })
child.send({ big: 41n, when: new Date(0) }, server)
const [{ big, year }] = await once(child, 'message')
server.close()
console.log(big, year, await text(connect(port, '127.0.0.1')))
child.kill()`,
    prints: '42n 1970 by the child\n',
  },
  {
    title: 'perf_hooks: event loop delay and utilization, histograms; async_hooks; diagnostics_channel',
    code: `
import { createHook, executionAsyncId } from 'node:async_hooks'
import { channel } from 'node:diagnostics_channel'
import { createHistogram, monitorEventLoopDelay, performance } from 'node:perf_hooks'
const delay = monitorEventLoopDelay({ resolution: 1 })
delay.enable()
let timers = 0
const hook = createHook({ init: (id, type) => { if (type === 'Timeout') timers++ } }).enable()
await new Promise((resolve) => setTimeout(resolve, 20))
hook.disable()
delay.disable()
console.log(delay.count > 0, timers > 0, performance.eventLoopUtilization().idle >= 0, typeof executionAsyncId())
const histogram = createHistogram()
for (const value of [1, 2, 3]) histogram.record(value)
console.log(histogram.mean)
channel('here').subscribe((message) => console.log('heard', message))
channel('here').publish('it')`,
    prints: 'true true true number\n2\nheard it\n',
  },
  {
    title: 'the inspector: a session in the program, and a profile of it',
    code: `
import { Session } from 'node:inspector/promises'
const session = new Session()
session.connect()
console.log((await session.post('Runtime.evaluate', { expression: '6 * 7' })).result.value)
await session.post('Profiler.enable')
await session.post('Profiler.start')
for (let index = 0; index < 1e5; index++) Math.sqrt(index)
console.log((await session.post('Profiler.stop')).profile.nodes.length > 0)
session.disconnect()`,
    prints: '42\ntrue\n',
  },
  {
    title: 'a heap snapshot, a diagnostic report, V8 flags',
    code: `
import { readFileSync, statSync } from 'node:fs'
import { getHeapStatistics, setFlagsFromString, writeHeapSnapshot } from 'node:v8'
console.log(statSync(writeHeapSnapshot('heap.heapsnapshot')).size > 100_000)
console.log(JSON.parse(readFileSync(process.report.writeReport('report.json'), 'utf8')).header.platform)
setFlagsFromString('--allow-natives-syntax')
console.log(getHeapStatistics().heap_size_limit > 0)`,
    prints: 'true\nlinux\ntrue\n',
  },
  {
    title: 'a small project: imports, JSON, package.json with exports, CommonJS, run with node and with npm',
    needs: ['npm'],
    files: {
      'package.json':
        '{"name":"project","type":"module","scripts":{"start":"node src/main.js extra"},"imports":{"#sum":"./src/sum.js"}}',
      'src/main.js':
        'import { readFileSync } from "node:fs"\nimport sum from "#sum"\nimport old from "./old.cjs"\nimport data from "./data.json" with { type: "json" }\nconsole.log(sum(...data), old.name, import.meta.filename.endsWith("src/main.js"), process.argv[2])\n',
      'src/sum.js': 'export default (...numbers) => numbers.reduce((a, b) => a + b, 0)\n',
      'src/old.cjs': 'exports.name = require("node:path").basename(__filename)\n',
      'src/data.json': '[1, 2, 39]',
    },
    code: `
import { execFileSync } from 'node:child_process'
console.log(execFileSync('node', ['src/main.js', 'direct']).toString().trim())
console.log(execFileSync('npm', ['start', '--silent']).toString().trim())`,
    prints: '42 old.cjs true direct\n42 old.cjs true extra\n',
  },
  {
    title: 'node --test, --check, --eval and a script from stdin',
    files: {
      'sum.test.mjs':
        'import test from "node:test"\ntest("sums", () => {})\ntest("fails", () => { throw 1 })\n',
    },
    code: `
import { spawnSync } from 'node:child_process'
const node = (args, input) => spawnSync(process.execPath, args, { input, encoding: 'utf8' })
const { status, stdout } = node(['--test', '--test-reporter=tap'])
console.log(status, stdout.match(/^# (pass|fail) \\d+$/gm).join(' '))
console.log(node(['--check', 'sum.test.mjs']).status, node(['--eval', 'console.log(1)']).stdout.trim(), node(['-'], 'console.log(2)').stdout.trim())`,
    prints: '1 # pass 1 # fail 1\n0 1 2\n',
  },
  {
    title: 'the machine as os describes it: processors, memory, interfaces, priority',
    code: `
import * as os from 'node:os'
console.log(os.cpus().length > 0, os.availableParallelism() > 0, os.freemem() <= os.totalmem(), os.loadavg().length)
console.log(os.networkInterfaces().lo.some(({ address }) => address === '127.0.0.1'))
os.setPriority(5)
console.log(os.getPriority(), os.constants.signals.SIGTERM)`,
    prints: 'true true true 3\ntrue\n5 15\n',
  },
  {
    title: 'who the program is: os.hostname, os.userInfo, os.homedir',
    code: `
import * as os from 'node:os'
let name
try { name = os.userInfo().username } catch (error) { name = error.code }
console.log(os.hostname() === 'cell', name === 'guest', os.homedir() === process.cwd())`,
    prints: 'false false true\n',
    differs: [
      {
        layer: 'namespaces',
        prints: 'true true true\n',
        reason:
          'A guest is user 1000 (in a warm run up to 1031), called `guest`, on a machine called `cell`, whoever and wherever it is outside.',
        instead: 'Put the name that the program needs into its `env` or `input`.',
      },
    ],
  },
]
