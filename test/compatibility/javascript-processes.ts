/** Child processes, workers, signals and WebAssembly in Node and Bun. */
import type { CompatibilityProgram } from './program.ts'

const wasmAdd = `
const bytes = Uint8Array.from([
  0, 97, 115, 109, 1, 0, 0, 0, 1, 7, 1, 96, 2, 127, 127, 1, 127, 3, 2, 1, 0, 5, 3, 1, 0, 1,
  7, 16, 2, 3, 97, 100, 100, 0, 0, 6, 109, 101, 109, 111, 114, 121, 2, 0, 10, 9, 1, 7, 0, 32, 0, 32, 1, 106, 11,
])`

export const javascriptProcesses: readonly CompatibilityProgram[] = [
  {
    title: 'exec with pipes, spawn with a shell, stdin of a child, its environment and folder',
    code: `
import { exec, execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { promisify } from 'node:util'
mkdirSync('folder')
console.log((await promisify(exec)('seq 5 | sort -r | head -2')).stdout.trim().replace('\\n', ' '))
console.log(spawnSync('tr a-z A-Z', { shell: true, input: 'loud' }).stdout.toString())
console.log(execFileSync('sh', ['-c', 'echo $ADDED; basename $PWD'], { cwd: 'folder', env: { ...process.env, ADDED: 'yes' } }).toString().trim())`,
    prints: '5 4\nLOUD\nyes\nfolder\n',
  },
  {
    title: 'fork with messages both ways',
    files: {
      'child.mjs':
        'process.on("message", (message) => {\n  if (message === "end") process.exit(5)\n  process.send({ doubled: message.number * 2, list: message.list.length })\n})\n',
    },
    code: `
import { fork } from 'node:child_process'
import { once } from 'node:events'
const child = fork('./child.mjs')
child.send({ number: 21, list: Array(10_000).fill('x') })
const [answer] = await once(child, 'message')
child.send('end')
const [exitCode] = await once(child, 'exit')
console.log(answer.doubled, answer.list, exitCode)`,
    prints: '42 10000 5\n',
  },
  {
    title: 'a child that outlives its timeout, an abort, a detached group that is killed',
    code: `
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
const timedOut = await new Promise((resolve) => execFile('sleep', ['60'], { timeout: 50 }, resolve))
console.log(timedOut.killed, timedOut.signal)
const controller = new AbortController()
const aborted = new Promise((resolve) => execFile('sleep', ['60'], { signal: controller.signal }, resolve))
controller.abort()
console.log((await aborted).name)
const group = spawn('sh', ['-c', 'sleep 60 & sleep 60'], { detached: true, stdio: 'ignore' })
await once(group, 'spawn')
process.kill(-group.pid, 'SIGKILL')
console.log((await once(group, 'exit'))[1])`,
    prints: 'true SIGTERM\nAbortError\nSIGKILL\n',
  },
  {
    title: 'signals to itself and from a child',
    code: `
import { spawn } from 'node:child_process'
import { once } from 'node:events'
// Waiting for a signal alone keeps no program alive.
const alive = setInterval(() => {}, 1000)
const caught = once(process, 'SIGUSR2')
process.kill(process.pid, 'SIGUSR2')
console.log((await caught)[0])
const fromChild = once(process, 'SIGHUP')
spawn('sh', ['-c', 'kill -HUP $PPID'])
console.log((await fromChild)[0])
console.log(process.kill(process.pid, 0))
clearInterval(alive)`,
    prints: 'SIGUSR2\nSIGHUP\ntrue\n',
  },
  {
    title: 'four workers on shared memory with Atomics',
    code: `
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
const shared = new Int32Array(new SharedArrayBuffer(8))
const code = 'const { workerData } = require("node:worker_threads"); for (let i = 0; i < 10000; i++) Atomics.add(workerData, 0, 1); Atomics.add(workerData, 1, 1); Atomics.notify(workerData, 1)'
const workers = Array.from({ length: 4 }, () => new Worker(code, { eval: true, workerData: shared }))
await Promise.all(workers.map((worker) => once(worker, 'exit')))
console.log(shared[0], shared[1])`,
    prints: '40000 4\n',
  },
  {
    title: 'a worker in a file: transferred buffers, terminate, errors',
    files: {
      'worker.mjs':
        'import { parentPort } from "node:worker_threads"\nparentPort.on("message", (buffer) => {\n  if (buffer === "fail") throw new RangeError("as told")\n  parentPort.postMessage(buffer, [buffer])\n})\n',
    },
    code: `
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
const worker = new Worker('./worker.mjs')
const buffer = new ArrayBuffer(1024)
worker.postMessage(buffer, [buffer])
const [back] = await once(worker, 'message')
console.log(buffer.byteLength, back.byteLength)
const failed = once(worker, 'error').catch((error) => [error])
worker.postMessage('fail')
console.log((await failed)[0].message)
const idle = new Worker('setInterval(() => {}, 1000)', { eval: true })
await once(idle, 'online')
await idle.terminate()
console.log('terminated')`,
    prints: '0 1024\nas told\nterminated\n',
  },
  {
    title: 'WebAssembly: compiled, called, its memory grown',
    code: `${wasmAdd}
const { instance } = await WebAssembly.instantiate(bytes)
const { add, memory } = instance.exports
console.log(add(40, 2), memory.buffer.byteLength, memory.grow(15), memory.buffer.byteLength)
console.log(WebAssembly.validate(bytes), WebAssembly.Module.exports(await WebAssembly.compile(bytes)).length)
const shared = new WebAssembly.Memory({ initial: 1, maximum: 4, shared: true })
console.log(shared.buffer instanceof SharedArrayBuffer)`,
    prints: '42 65536 1 1048576\ntrue 2\ntrue\n',
  },
  {
    title: 'timers in order, intervals, timers/promises with an abort',
    code: `
import { setImmediate as immediate, setInterval as every, setTimeout as pause } from 'node:timers/promises'
const order = []
const timers = [400, 200, 1].map((ms) => pause(ms, ms).then((value) => order.push(value)))
await Promise.all(timers)
let ticks = 0
for await (const value of every(2, 'tick')) if (++ticks === 3) { order.push(value); break }
order.push(await immediate('immediate'))
const controller = new AbortController()
const waiting = pause(60_000, null, { signal: controller.signal }).catch((error) => error.code)
controller.abort()
console.log(order.join(' '), await waiting)`,
    prints: '1 200 400 tick immediate ABORT_ERR\n',
  },
  {
    title: 'readline: lines of stdin, and a question',
    stdin: 'first\nsecond\n',
    code: `
import { createInterface } from 'node:readline'
const lines = createInterface({ input: process.stdin })
const read = []
lines.on('line', (line) => read.push(line))
await new Promise((resolve) => lines.on('close', resolve))
console.log(read.join('|'))
import { PassThrough } from 'node:stream'
const input = new PassThrough()
const asked = createInterface({ input, output: new PassThrough() })
const answer = new Promise((resolve) => asked.question('name? ', resolve))
input.write('guest\\n')
console.log(await answer)
asked.close()`,
    prints: 'first|second\nguest\n',
  },
  {
    title: 'performance marks, measures, observers, timerify; AsyncLocalStorage across timers and promises',
    code: `
import { AsyncLocalStorage } from 'node:async_hooks'
import { performance, PerformanceObserver } from 'node:perf_hooks'
const observed = new Promise((resolve) => new PerformanceObserver((list) => resolve(list.getEntries()[0])).observe({ entryTypes: ['measure'] }))
performance.mark('a')
performance.mark('b')
performance.measure('a to b', 'a', 'b')
const { name, duration } = await observed
console.log(name, duration >= 0)
const storage = new AsyncLocalStorage()
const inTimer = storage.run('kept', () => new Promise((resolve) => setTimeout(() => resolve(storage.getStore()), 1)))
console.log(await inTimer, storage.getStore())`,
    prints: 'a to b true\nkept undefined\n',
  },
]
