/**
 * A thousand clients of `lazaret serve` disconnect during their runs: each guest is dead within 100 ms of the end of its
 * connection. It may be late only by as long as processes of this machine waited for a processor meanwhile, as the kernel
 * counts it: on a busy machine that is others' time, with a bound of its own. Half of the guests are never late.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'

import { spawnCli } from '../../test/adapters/cli/spawn-cli.ts'
import { eventually } from '../../test/support/eventually.ts'
import { isAlive, listDescendants } from '../../test/support/machine/processes.ts'
import type { HostProcess } from '../../test/support/machine/processes.ts'
import { processorPressureMs } from '../../test/support/machine/processor-pressure.ts'

const leavers = 1000
/** As many as fit at one time, even on a small machine. */
const atOnce = 8
const deadWithinMs = 100
/** The bound including the time when others had the processors. */
const deadOnBusyMachineWithinMs = 2000
/** Each sleeps for a unique time, by which it is found. */
const secondsFirst = 880_000

async function serve() {
  const child = spawnCli(['serve', '--port', '0', '--json', '--minimum', 'restricted'])
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string]
  const { url, token } = JSON.parse(line) as { readonly url: string; readonly token: string }
  return {
    ...{ pid: child.pid as number, url, token },
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM')
      await once(child, 'close')
    },
  }
}

type Server = Awaited<ReturnType<typeof serve>>

/** Resolves when its program has printed something, with a function that disconnects the client. */
async function startEndless({ url, token }: Server, seconds: number): Promise<() => void> {
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    accept: 'text/event-stream',
  }
  const sent = request(`${url}/v1/run`, { method: 'POST', headers, agent: false })
  sent.on('error', () => undefined)
  // With less memory than the default, so that all of them fit.
  const limits = { memoryBytes: 32 * 1024 * 1024, wallMs: 600_000 }
  sent.end(JSON.stringify({ language: 'shell', code: `echo ready; exec sleep ${seconds}`, limits }))
  const [response] = await once(sent, 'response')
  let seen = ''
  response.on('error', () => undefined)
  for (response.setEncoding('utf8'); !seen.includes('ready');) seen += (await once(response, 'data'))[0]
  return () => void response.destroy()
}

/** Keys are the seconds that they sleep. */
function findSleepers(server: number): Map<number, HostProcess> {
  const found = new Map<number, HostProcess>()
  for (const guest of listDescendants(server)) {
    try {
      const [, seconds] = /^sleep\0(\d+)\0$/.exec(readFileSync(`/proc/${guest.pid}/cmdline`, 'utf8')) ?? []
      if (seconds !== undefined) found.set(Number(seconds), guest)
    } catch {
      // It has ended meanwhile.
    }
  }
  return found
}

interface Death {
  readonly tookMs: number
  /** The part of it while others had the processors. */
  readonly pressedMs: number
}

async function die(guest: HostProcess, leave: () => void): Promise<Death> {
  const [start, pressed] = [performance.now(), processorPressureMs()]
  leave()
  while (isAlive(guest) && performance.now() - start <= deadOnBusyMachineWithinMs) await pause(1)
  return { tookMs: performance.now() - start, pressedMs: processorPressureMs() - pressed }
}

test('when a thousand clients disconnect during their runs, every guest is dead within 100 ms', async (context) => {
  await using server = await serve()
  const deaths: Death[] = []
  for (let first = 0; first < leavers; first += atOnce) {
    const numbers = Array.from({ length: atOnce }, (_, index) => secondsFirst + first + index)
    const leaves = await Promise.all(numbers.map((seconds) => startEndless(server, seconds)))
    let sleepers = findSleepers(server.pid)
    await eventually(
      () =>
        numbers.every((one) => (sleepers = findSleepers(server.pid)).has(one))
          ? undefined
          : 'not all of them sleep',
      30_000,
    )
    deaths.push(
      ...(await Promise.all(
        numbers.map((seconds, index) =>
          die(sleepers.get(seconds) as HostProcess, leaves[index] as () => void),
        ),
      )),
    )
  }
  const tookMs = deaths.map((death) => death.tookMs).toSorted((a, b) => a - b)
  const quantile = (share: number): number => tookMs[Math.ceil(tookMs.length * share) - 1] ?? 0
  const late = deaths.filter((death) => death.tookMs > deadWithinMs)
  const figures = `p50 ${quantile(0.5).toFixed(1)}, p99 ${quantile(0.99).toFixed(1)}, most ${quantile(1).toFixed(1)} ms`
  context.diagnostic(`${figures}; ${late.length} of ${deaths.length} took more than ${deadWithinMs} ms`)
  assert.equal(deaths.length, leavers)
  assert.ok(quantile(0.5) <= deadWithinMs, figures)
  assert.ok(quantile(1) <= deadOnBusyMachineWithinMs, figures)
  assert.deepEqual(
    late.filter((death) => death.tookMs - death.pressedMs > deadWithinMs),
    [],
  )
  // The cells are gone, too, except those parked for the next runs.
  const guests = () => listDescendants(server.pid).filter(({ name }) => name === 'sleep')
  assert.deepEqual(guests(), [])
})
