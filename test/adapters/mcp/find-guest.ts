import { randomInt } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { eventually } from '../../support/eventually.ts'
import { findProcess, type HostProcess, isAlive } from '../../support/machine/processes.ts'
import type { Connection } from './connect.ts'
import { startCalmWatch } from '../../support/machine/processor-pressure.ts'

/** Tells the sleepers of this process from those of other runs of the same tests on this machine. */
const fraction = String(randomInt(100_000, 1_000_000))

/** A command that `findGuest` finds by its `seconds`. */
export const sleepFor = (seconds: number): string => `sleep ${seconds}.${fraction}`

/** A program that prints `ready` and then becomes the process that `findGuest` finds. */
export function endlessShell(seconds: number): { language: string; code: string } {
  return { language: 'shell', code: `echo ready; exec ${sleepFor(seconds)}` }
}

export function findGuest(seconds: number): HostProcess | undefined {
  for (const name of readdirSync('/proc').filter((one) => /^\d+$/.test(one))) {
    try {
      const line = readFileSync(`/proc/${name}/cmdline`, 'utf8')
      if (line === `${sleepFor(seconds).replace(' ', '\0')}\0`) return findProcess(Number(name))
    } catch {
      // It has already ended.
    }
  }
  return undefined
}

/** Resolves when the guest of this call runs. It does not wait for the call's result. */
export async function startEndless(
  connection: Connection,
  seconds: number,
  signal?: AbortSignal,
): Promise<HostProcess> {
  const { promise, resolve } = Promise.withResolvers<void>()
  connection
    .execute(endlessShell(seconds), { onprogress: () => resolve(), ...(signal !== undefined && { signal }) })
    .catch(() => undefined)
  await promise
  let guest: HostProcess | undefined
  await eventually(
    () => ((guest = findGuest(seconds)) === undefined ? 'it does not sleep yet' : undefined),
    5000,
  )
  return guest as unknown as HostProcess
}

/** Waits until the guest is dead, at most `deadlineMs`, and returns the time that it took; both on a calm machine. */
export async function msUntilDead(guest: HostProcess, deadlineMs: number): Promise<number> {
  const watch = startCalmWatch()
  while (isAlive(guest) && watch() < deadlineMs) await sleep(1)
  return watch()
}
