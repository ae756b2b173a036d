/**
 * A host process for tests that kill it: three runs that sleep, and a word when all are running.
 *
 * Usage: sleeping-host.ts <wallMs>
 */
import { runtimeNames } from '../../../src/core/request.ts'
import { createLazaret } from '../create-lazaret.ts'

const wallMs = Number(process.argv[2])
// Parked workers have no deadline; other tests kill hosts with parked workers.
const pools = Object.fromEntries(runtimeNames.map((name) => [name, { max: 0 }]))
const lazaret = createLazaret({ pools })
const programs = [
  { language: 'shell', code: `trap '' TERM HUP INT; (setsid sleep 300 &); echo up; sleep 300` },
  { language: 'python', code: 'import os, time\nos.fork()\nprint("up", flush=True)\ntime.sleep(300)' },
  { language: 'javascript', code: `console.log('up'); setInterval(() => {}, 1000)` },
] as const

// Creates a nursery, as in a host that has been running for a while.
for (let runs = 0; runs < 3; runs++) await lazaret.run({ language: 'shell', code: ':' })

let asleep = 0
const onOutput = ({ text }: { text: string }) => {
  asleep += text.split('up').length - 1
  // Both processes of the Python program print it, and the order is not fixed, so all are counted.
  if (asleep === 4) process.stdout.write('asleep\n')
}

await Promise.all(programs.map((program) => lazaret.run({ ...program, onOutput, limits: { wallMs } })))
