/** A bare cell of the shape that every run gets, without a runtime. */
import { systemClock } from '../../src/core/clock.ts'
import { defaultLimits } from '../../src/core/limits.ts'
import { buildCell } from '../../src/jail/cell/build-cell.ts'
import type { BuiltCell } from '../../src/jail/cell/build-cell.ts'
import type { Machine } from '../../src/jail/machine/machine.ts'
import { ownView } from '../../src/jail/plan/place.ts'
import { planLimits } from '../../src/jail/limits/plan-limits.ts'
import { unwatched } from '../../src/jail/limits/limit-rows.ts'

/** Milliseconds from the start of building until … */
export interface CellTimes {
  readonly ready: number
  /** … the exit of `/bin/true` in it was known. */
  readonly exit: number
  /** … it was removed completely. */
  readonly gone: number
}

export async function useCell(machine: Machine): Promise<CellTimes> {
  const start = performance.now()
  const built = await build(machine)
  let ready = Number.NaN
  void built.cell.ready.then(() => (ready = performance.now() - start))
  await runTrue(built, machine)
  const exit = performance.now() - start
  await built.clean()
  return { ready, exit, gone: performance.now() - start }
}

/** A running cell, for one command after another. */
export async function openCell(machine: Machine): Promise<{ runTrue(): Promise<void> } & AsyncDisposable> {
  const built = await build(machine)
  await built.cell.ready
  return { runTrue: () => runTrue(built, machine), [Symbol.asyncDispose]: () => built.clean() }
}

function build(machine: Machine): Promise<BuiltCell> {
  const shape = { binds: [], network: 'none', place: ownView, diskBytes: defaultLimits.diskBytes } as const
  return buildCell({ shape, limits: defaultLimits, hasChannel: false }, machine, systemClock)
}

async function runTrue({ cell, ground }: BuiltCell, machine: Machine): Promise<void> {
  const exit = Promise.withResolvers<void>()
  const spec = {
    file: '/bin/true',
    argv: ['true'],
    env: {},
    folder: '/workspace',
    rlimits: planLimits(defaultLimits, ground.limitGround, machine.limitFigures).rlimits,
    outputBytes: 1024,
    wallMs: 0,
    watched: unwatched,
  }
  const listener = {
    onSpawned() {},
    onOutput() {},
    onExceeded() {},
    onUsage() {},
    onExit: () => exit.resolve(),
  }
  cell.spawn(spec, listener, (failure) => exit.reject(new Error(failure.step)))
  await exit.promise
}
