/** A session of the fuzzer: compiles the guest, starts a Lazaret and two neighbours, and finally checks for leftovers. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

import { createLazaret } from '../../src/index.ts'
import type { Lazaret, ProtectionLevel } from '../../src/index.ts'
import { planRules } from '../../src/jail/seccomp/policy.ts'
import { LeakCheck } from '../../test/support/machine/leaks.ts'
import { AllowedValues } from './allowed-values.ts'
import { Fuzzer } from './fuzzer.ts'
import type { Finding, FuzzPlan } from './fuzzer.ts'
import { compileGuest } from './guest.ts'
import { Refusals } from './refusals.ts'
import { startNeighbour } from './neighbour.ts'
import type { Neighbour } from './neighbour.ts'
import type { CallTally } from './tally.ts'

export interface FuzzReport {
  readonly level: ProtectionLevel
  readonly seconds: number
  readonly neighbourRuns: number
  /** Readings that moved once and not again. */
  readonly unconfirmed: number
  readonly findings: readonly Finding[]
  readonly tally: CallTally
}

export async function fuzzOptions(plan: FuzzPlan): Promise<FuzzReport> {
  const startedMs = performance.now()
  const guest = compileGuest()
  const leaks = new LeakCheck()
  const lazaret = createLazaret()
  try {
    const { receipt } = await warmUp(lazaret, leaks)
    const memoryHeldByCgroup = receipt.limits.memoryBytes.by === 'cgroup'
    const level = receipt.protection
    if (level !== 'strong' && level !== 'standard' && level !== 'restricted')
      throw new Error(`At level ${level} there are no system calls to fuzz.`)
    const architecture = process.arch === 'arm64' ? 'arm64' : 'x64'
    const sharesHost = { network: false, owner: process.getuid?.() !== 0 }
    const rules = planRules({
      ...{ architecture, memoryHeldByCgroup },
      ...(level === 'restricted' ? { sharesHost } : {}),
    })
    const allowed = new AllowedValues(rules)
    const refusals = new Refusals(rules, architecture, guest.numbers)
    plan.say(
      `level ${level}, seed ${plan.seed}, ${plan.seconds} s; calls with lists: ${allowed.names.join(', ')}`,
    )
    const { fuzzer, neighbourRuns } = await fuzzBesideNeighbours(plan, { lazaret, guest, allowed, refusals })
    await lazaret.releaseWorkers()
    await leaks.check().catch((error: unknown) => fuzzer.note('left after the runs', error))
    await lazaret[Symbol.asyncDispose]()
    await leaks.checkDisposed().catch((error: unknown) => fuzzer.note('left after disposal', error))
    const { findings, unconfirmed, tally } = fuzzer
    const seconds = Math.round((performance.now() - startedMs) / 1000)
    return { level, seconds, neighbourRuns, unconfirmed, findings, tally }
  } finally {
    await lazaret[Symbol.asyncDispose]()
  }
}

async function fuzzBesideNeighbours(
  plan: FuzzPlan,
  parts: Omit<ConstructorParameters<typeof Fuzzer>[1], 'complaints'>,
) {
  await using near = startNeighbour(parts.lazaret, 'in this process')
  await using far = await startFarNeighbour()
  const complaints = () => [...near.complaints(), ...far.complaints()]
  using fuzzer = new Fuzzer(plan, { ...parts, complaints })
  await fuzzer.fuzz()
  return { fuzzer, neighbourRuns: near.runs() + far.runs() }
}

/** Creates what exists as long as the Lazaret, before the baseline is taken. */
async function warmUp(lazaret: Lazaret, leaks: LeakCheck) {
  await lazaret.run({ language: 'shell', code: ':' })
  const result = await lazaret.run({ language: 'shell', code: ':' })
  await lazaret.releaseWorkers()
  await leaks.allowNursery()
  await leaks.takeBaseline()
  return result
}

/** The second neighbour, in its own process. */
async function startFarNeighbour(): Promise<Neighbour> {
  const child = fork(join(import.meta.dirname, 'neighbour-host.ts'))
  const complaints: string[] = []
  let runs = 0
  child.on('message', ({ complaint }: { readonly complaint?: string }) => {
    runs++
    if (complaint !== undefined) complaints.push(`in another process: ${complaint}`)
  })
  await once(child, 'message')
  return {
    complaints: () => complaints.splice(0),
    runs: () => runs,
    async [Symbol.asyncDispose]() {
      const ended = once(child, 'exit')
      if (child.connected) child.disconnect()
      if (child.exitCode === null) await ended
    },
  }
}
