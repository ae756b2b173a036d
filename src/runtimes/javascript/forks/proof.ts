/**
 * A program that uses every part of an engine that a fork could break: the threads of optimizing compilers and of the
 * collector, the thread pool, timers, WebAssembly, wakeups of the event loop, and exit listeners. Its value is `true`. In
 * a bare realm it checks only the first two.
 */
export const zygoteProof = String.raw`
const sum = (count) => { let total = 0; for (let i = 0; i < count; i++) total = (total + i * 7) % 1000003; return total }
let total = 0
for (let round = 0; round < 200; round++) total = sum(20000)
const kept = []
for (let i = 0; i < 100000; i++) kept.push({ i, text: 'x' + i })
const good = [total === 925803, kept[99999].text === 'x99999']
if (typeof require === 'function') {
  // First, because any other event would also wake up the loop. The interval keeps it asleep meanwhile, as in a server.
  const interval = setInterval(() => {}, 60000)
  good.push((await Atomics.waitAsync(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1).value) === 'timed-out')
  clearInterval(interval)
  await new Promise((resolve) => setTimeout(resolve, 1))
  const { readFile } = require('node:fs/promises')
  good.push((await readFile('/proc/self/stat', 'utf8')).startsWith(process.pid + ' '))
  const adder = Buffer.from('AGFzbQEAAAABBwFgAn9/AX8DAgEABwcBA2FkZAAACgkBBwAgACABags=', 'base64')
  const { instance } = await WebAssembly.instantiate(adder)
  good.push(instance.exports.add(40, 2) === 42)
  process.on('exit', () => {})
}
good.every(Boolean)
`
