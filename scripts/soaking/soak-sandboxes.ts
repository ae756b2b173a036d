/**
 * Sandboxes that live for minutes, many at one time, each with a random script. From time to time one is destroyed,
 * often during its work, and replaced. Afterwards nothing of them may be left.
 */
import { createLazaret, LazaretError } from '../../src/index.ts'
import type { Lazaret } from '../../src/index.ts'
import { LeakCheck } from '../../test/support/machine/leaks.ts'
import { heldBytes } from '../../test/support/machine/resident-memory.ts'
import { seededRandom } from '../../test/support/seeded-random.ts'
import { doSomething } from './sandbox-life.ts'
import { residentGrowthBytesMax, uidRange } from './soak.ts'
import { Tally } from './tally.ts'

export interface SandboxSoakPlan {
  readonly sandboxes: number
  readonly seconds: number
  readonly seed: number
  readonly signal?: AbortSignal
  readonly onProgress?: (tally: Tally) => void
}

export interface SandboxSoakReport {
  readonly seed: number
  readonly commands: number
  readonly sandboxes: number
  readonly wrong: number
  readonly problems: readonly string[]
  readonly residentGrowthBytes: number
  readonly latencies: ReturnType<Tally['latencies']>
}

/** Until the highest number of sandboxes has been flooded at one time: the allocator keeps that memory. */
const warmUpSeconds = 40
/** A sandbox is destroyed during one of about this many actions. */
const destroyEvery = 60

export async function soakSandboxes(plan: SandboxSoakPlan): Promise<SandboxSoakReport> {
  const leaks = new LeakCheck()
  await using lazaret = createLazaret({ uidRange })
  // The second cell starts the nursery, which stays.
  for (let cell = 0; cell < 2; cell++) await (await lazaret.sandbox()).destroy()
  await leaks.allowNursery()
  await leaks.takeBaseline()
  const made = { count: 0 }
  const warmUp = new Tally()
  await live(lazaret, { ...plan, seconds: warmUpSeconds }, { tally: warmUp, made })
  const before = heldBytes()
  const tally = new Tally()
  const timer = setInterval(() => plan.onProgress?.(tally), 1000)
  await live(lazaret, plan, { tally, made })
  clearInterval(timer)
  tally.stop()
  const residentGrowthBytes = heldBytes() - before
  const problems = [...warmUp.shown, ...tally.shown]
  const look = (when: string, check: () => Promise<void>) =>
    check().catch((error: unknown) => problems.push(`${when}: ${(error as Error).message}`))
  await look('after the sandboxes', () => leaks.check())
  await lazaret[Symbol.asyncDispose]()
  await look('after disposal', () => leaks.checkDisposed())
  if (residentGrowthBytes > residentGrowthBytesMax)
    problems.push(`the host grew by ${Math.round(residentGrowthBytes / 1024 / 1024)} MiB`)
  return {
    seed: plan.seed,
    commands: tally.runs,
    sandboxes: made.count,
    wrong: warmUp.wrong + tally.wrong,
    problems,
    residentGrowthBytes,
    latencies: tally.latencies(),
  }
}

interface Count {
  readonly tally: Tally
  readonly made: { count: number }
}

async function live(lazaret: Lazaret, plan: SandboxSoakPlan, { tally, made }: Count): Promise<void> {
  const { sandboxes, seconds, seed, signal } = plan
  const end = performance.now() + seconds * 1000
  const isTime = () => performance.now() < end && signal?.aborted !== true
  const place = async (index: number) => {
    const random = seededRandom(seed + index)
    while (isTime()) {
      made.count++
      await using sandbox = await lazaret.sandbox({ limits: { memoryBytes: 96 * 1024 * 1024 } })
      for (let isDoomed: boolean = false; !isDoomed && isTime();) {
        const token = `t${index}-${made.count}-${tally.runs}`
        isDoomed = random() < 1 / destroyEvery
        const startedMs = performance.now()
        const deed = doSomething({ sandbox, random, token })
        if (isDoomed) {
          // During its work, which then succeeds or fails with SANDBOX_GONE.
          await sandbox.destroy()
          await deed
          continue
        }
        const ended = await deed
        tally.add({ ms: performance.now() - startedMs, ...ended })
      }
    }
  }
  await Promise.all(Array.from({ length: sandboxes }, (_, index) => place(index)))
  for (const sandbox of lazaret.listSandboxes()) throw new LazaretError('INTERNAL', { detail: sandbox.id })
}
