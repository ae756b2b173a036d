/**
 * A host process that will be killed: it runs the cases of a soak until SIGTERM. It prints `ready` once as many runs
 * have ended as are in flight, then a line of JSON for each wrong result.
 *
 * Usage: mortal-soak.ts <seed> <in flight> <first id> <ids> <cold or warm>
 */
import { existsSync } from 'node:fs'

import { createLazaret } from '../../src/index.ts'
import type { RunNews } from '../../test/support/hosts/mortal-host.ts'
import { describeMachine } from './case.ts'
import { dealCases } from './deck.ts'
import { openGreeter } from './greeter.ts'
import { coldOptions, unboundedOptions } from './pools.ts'
import { runMix } from './run-mix.ts'

const [seed = 0, inFlight = 0, first = 0, count = 0] = process.argv.slice(2).map(Number)
/** No search through a version manager's shim: if the host is killed while a shim runs, the shim stays. */
const toolchains = existsSync('/usr/bin/python3') ? { python: '/usr/bin/python3' } : {}
const options = process.argv[6] === 'cold' ? coldOptions() : {}
const lazaret = createLazaret({ uidRange: { first, count }, toolchains, ...unboundedOptions, ...options })
const greeter = await openGreeter()
const machine = describeMachine(await lazaret.run({ language: 'python', code: '' }), greeter)

const stop = new AbortController()
process.once('SIGTERM', () => stop.abort())
let ended = 0
await runMix({
  cases: dealCases({ seed, machine }),
  runs: Number.MAX_SAFE_INTEGER,
  inFlight,
  run: (request) => lazaret.run(request),
  signal: stop.signal,
  onEnd: ({ kind, wrong }) => {
    if (++ended === inFlight) say('ready')
    if (wrong !== undefined)
      say(JSON.stringify({ token: String(ended), name: kind, end: 'wrong', why: wrong } satisfies RunNews))
  },
})
await lazaret[Symbol.asyncDispose]()
await greeter[Symbol.asyncDispose]()

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
