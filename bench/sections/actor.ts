/** The actor: the latency of a message, and messages per second, compared with an actor without isolation. */
import { loadavg } from 'node:os'

import { MessageRouter, SubprocessCodeExecutionActor } from '../../src/adapters/actor/index.ts'
import { createLazaret } from '../../src/engine/lazaret.ts'
import type { BenchOptions } from '../options.ts'
import { compare } from '../measure/compare.ts'
import { progress } from '../progress.ts'
import { LongLivedRival } from '../rivals/long-lived.ts'
import { alternate, sustain } from '../measure/sustain.ts'
import type { Contestant, Sustained } from '../measure/sustain.ts'
import { goalAtMost, skippedTable } from '../table.ts'
import type { Table } from '../table.ts'
import { toolchains } from '../workloads.ts'

const code = 'const x = 1 + 1; x'
const expected = '2'
/** Parked workers at the start of a slice. For each one that is missing at its end, one message is not counted. */
const stock = 8
const levels = [1, 8] as const
const ownName = 'lazaret actor'

export async function benchActor({ turns, seconds }: BenchOptions): Promise<Table[]> {
  const bun = toolchains.bun()
  if (bun === null) return [skippedTable('actor', 'there is no Bun on this machine.')]
  await using rival = LongLivedRival.bunActor('Bun.spawn a message, no wall', bun, {
    command: [code],
    expected,
  })
  await using warm = new WarmActor()
  const latency = await compare({
    title: 'actor, warm: one message',
    turns,
    settle: () => warm.settle(1),
    rivals: [{ name: ownName, turn: () => warm.time() }, rival],
    goals: ([ours]) => [goalAtMost('p50 ≤ 2 ms', ours?.figures['p50'] ?? Number.NaN, 2)],
  })
  return [latency, await compareThroughput([warm.contestant, rival], seconds)]
}

async function compareThroughput(contestants: readonly Contestant[], seconds: number): Promise<Table> {
  const measured: Sustained[] = []
  for (const inFlight of levels) {
    progress(`actor: ${inFlight} in flight`)
    measured.push(...(await alternate(contestants, { inFlight, seconds })))
  }
  return {
    title: `actor: messages per second, ${seconds} s each in alternating slices`,
    unit: '',
    load: loadavg()[0] ?? 0,
    rows: measured.map(({ name, inFlight, figures, verdict }) => ({
      name: `${inFlight} in flight: ${name}`,
      figures,
      ...(verdict === undefined ? {} : { verdict }),
    })),
    goals: [],
    notes: [],
    wrong: measured.flatMap(({ wrong }) => wrong),
  }
}

class WarmActor implements AsyncDisposable {
  readonly #lazaret = createLazaret({ pools: { bun: { max: stock } } })
  readonly #actor = new SubprocessCodeExecutionActor(new MessageRouter(), undefined, {
    lazaret: this.#lazaret,
  })

  readonly contestant: Contestant = {
    name: ownName,
    settle: () => this.settle(stock),
    sustain: async (slice) => {
      const before = this.#parked
      const load = await sustain(slice, () => this.#fault())
      return { ...load, fromStock: Math.max(0, before - this.#parked) }
    },
  }

  async settle(count: number): Promise<void> {
    await this.#actor.warmUp(count)
  }

  /** The milliseconds of one message. Throws if the answer is wrong. */
  async time(): Promise<number> {
    const start = performance.now()
    const fault = await this.#fault()
    const ms = performance.now() - start
    if (fault !== undefined) throw new Error(`A turn of ${ownName} ${fault}.`)
    return ms
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#lazaret[Symbol.asyncDispose]()
  }

  get #parked(): number {
    return this.#lazaret.stats().pools.reduce((sum, { parked }) => sum + parked, 0)
  }

  async #fault(): Promise<string | undefined> {
    const { success, error, payload } = await this.#actor.receive({ type: 'execute', payload: { code } })
    if (!success) return `failed: ${error}`
    return String(payload?.result) === expected ? undefined : `answered ${String(payload?.result)}`
  }
}
