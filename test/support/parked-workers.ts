/** What tests of pools with real cells share. */
import { createLazaret } from './create-lazaret.ts'
import { eventually } from './eventually.ts'
import { isWarm } from './run-parked.ts'
import { bun, node, python, shell } from './use-lazaret.ts'
import type { Lazaret, LazaretOptions, RunRequest } from '../../src/index.ts'

export const parkedRuntimes = [shell, python, bun, node]
/** Long, because the machine may be busy. */
export const parkingMs = 20_000

export async function waitForParked(count: number, lazaret: Lazaret): Promise<void> {
  const parked = () => lazaret.stats().pools.reduce((sum, pool) => sum + pool.parked, 0)
  await eventually(() => (parked() === count ? undefined : `${parked()} are parked`), parkingMs)
}

/** Passes a new Lazaret to `use`, and disposes it afterwards. */
export async function withLazaret(
  options: LazaretOptions,
  use: (lazaret: Lazaret) => Promise<void>,
): Promise<void> {
  await using own = createLazaret(options)
  await use(own)
}

export const isServedWarm = async (request: RunRequest, lazaret: Lazaret) =>
  isWarm(await lazaret.run(request))
