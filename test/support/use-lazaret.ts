/** One Lazaret for one or more test files, with a check for leftovers after each test. */
import { after, afterEach } from 'node:test'

import { runtimeNames } from '../../src/core/request.ts'
import { createLazaret } from './create-lazaret.ts'
import type { CellRuntimeName } from '../../src/core/request.ts'
import type {
  Language,
  Lazaret,
  LazaretOptions,
  ProtectionLevel,
  RunRequest,
  RunResult,
} from '../../src/index.ts'
import { areInForks, inForks } from './in-forks.ts'
import { LeakCheck } from './machine/leaks.ts'

export interface TestLazaret {
  readonly lazaret: Lazaret
  readonly leaks: LeakCheck
  readonly level: ProtectionLevel
  /** Whether cgroups enforce the limits of memory, processes and processor time, and provide the evidence. */
  readonly heldByCgroup: boolean
  readonly landlockAbi: number
  readonly run: (request: RunRequest) => Promise<RunResult>
}

export interface GuestRuntime {
  readonly runtime: CellRuntimeName
  readonly language: Language
}

export const shell = { runtime: 'shell', language: 'shell' } as const
export const python = { runtime: 'python', language: 'python' } as const
export const bun = { runtime: 'bun', language: 'javascript' } as const
export const node = { runtime: 'node', language: 'javascript' } as const

/** Every run is a cold start. */
export const noPools = Object.fromEntries(runtimeNames.map((name) => [name, { max: 0 }]))

/** The Lazaret of all files of this process that set no options. */
let shared: Promise<TestLazaret> | undefined
let isSharing = false

/** From now on one Lazaret serves every file that sets no options. The caller ends it with the returned function. */
export function shareLazaret(): () => Promise<void> {
  isSharing = true
  return async () => {
    if (shared !== undefined) await end(await shared)
  }
}

/** Call once, at the top of a test file. Every run is a cold start unless `pools` says otherwise. */
export async function useLazaret(options?: LazaretOptions): Promise<TestLazaret> {
  const isOthersToo = isSharing && options === undefined
  const starting = isOthersToo ? (shared ??= start({})) : start(options ?? {})
  // Hooks are registered before the first await, because after it the runner may not know to which file they belong.
  afterEach(async () => {
    const { lazaret, leaks } = await starting
    // Parked workers are not leftovers.
    await lazaret.releaseWorkers()
    await leaks.check()
  })
  after(async () => {
    const guests = await starting
    if (isOthersToo) guests.leaks.leaveFolder()
    else await end(guests)
  })
  const guests = await starting
  guests.leaks.enterFolder()
  // Taken here, so that the baseline includes what the file has opened before.
  await guests.leaks.takeBaseline()
  return guests
}

async function start(options: LazaretOptions): Promise<TestLazaret> {
  const leaks = new LeakCheck()
  const lazaret = createForTests(options)
  if (areInForks) leaks.before = () => lazaret.releaseWorkers()
  const run = async (request: RunRequest): Promise<RunResult> => {
    const result = await lazaret.run(request)
    leaks.noteNamespace(result.receipt.observed['ns_pid'])
    return result
  }
  const { receipt } = await run({ ...shell, code: ':' })
  // A host creates its nursery at the second cell, so the cells of tests are built like most cells.
  await run({ ...shell, code: ':' })
  await lazaret.releaseWorkers()
  await leaks.allowNursery()
  return {
    lazaret,
    leaks,
    level: receipt.protection as ProtectionLevel,
    heldByCgroup: receipt.limits.memoryBytes.by === 'cgroup',
    landlockAbi: Number(/landlock-(\d+)/.exec(receipt.layers.join(' '))?.[1] ?? 0),
    run,
  }
}

function createForTests(options: LazaretOptions): Lazaret {
  if (!areInForks || options.pools !== undefined) return createLazaret({ pools: noPools, ...options })
  return inForks(createLazaret({ ...options, pools: { ...noPools, bun: {}, node: {}, python: {} } }))
}

async function end({ lazaret, leaks }: TestLazaret): Promise<void> {
  await lazaret[Symbol.asyncDispose]()
  await leaks.checkDisposed()
  leaks.leaveFolder()
}
