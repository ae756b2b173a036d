/**
 * A host process of its own, for tests that kill it: three runs that sleep, and one word when all are at work.
 *
 * Usage: sleeping-host.ts <wallMs>
 */
import { runtimeNames } from '../../../src/core/request.ts'
import { createLazaret } from '../create-lazaret.ts'

const wallMs = Number(process.argv[2])
// Workers that wait have no deadline of their own; other tests kill hosts that have some.
const pools = Object.fromEntries(runtimeNames.map((name) => [name, { max: 0 }]))
const lazaret = createLazaret({ pools })
const programs = [
  { language: 'shell', code: `trap '' TERM HUP INT; (setsid sleep 300 &); echo up; sleep 300` },
  { language: 'python', code: 'import os, time\nos.fork()\nprint("up", flush=True)\ntime.sleep(300)' },
  { language: 'javascript', code: `console.log('up'); setInterval(() => {}, 1000)` },
] as const

// With a nursery, as in a host that has been at work for a while.
for (let runs = 0; runs < 3; runs++) await lazaret.run({ language: 'shell', code: ':' })

let asleep = 0
const onOutput = ({ text }: { text: string }) => {
  asleep += text.split('up').length - 1
  // Both forks of the Python program may say it; the third program's word comes last or not, so all are counted.
  if (asleep === 4) process.stdout.write('asleep\n')
}

await Promise.all(programs.map((program) => lazaret.run({ ...program, onOutput, limits: { wallMs } })))
