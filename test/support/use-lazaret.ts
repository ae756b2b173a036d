/** One Lazaret for a test file or several, with a check after each test that nothing was left behind. */
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
  /** Whether cgroups hold memory, processes and processor time, and keep the evidence. */
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

/** Every run is started for itself. */
export const noPools = Object.fromEntries(runtimeNames.map((name) => [name, { max: 0 }]))

/** What files without options of their own share, where several files share this process. */
let shared: Promise<TestLazaret> | undefined
let isSharing = false

/** From now on one Lazaret serves every file that names no options. Whoever runs the files ends it with the result. */
export function shareLazaret(): () => Promise<void> {
  isSharing = true
  return async () => {
    if (shared !== undefined) await end(await shared)
  }
}

/** Call once, at the top of a test file. Every run is started for itself unless `pools` says otherwise. */
export async function useLazaret(options?: LazaretOptions): Promise<TestLazaret> {
  const isOthersToo = isSharing && options === undefined
  const starting = isOthersToo ? (shared ??= start({})) : start(options ?? {})
  // Hooks come first: after what is awaited below the runner may no longer know whose they are.
  afterEach(async () => {
    const { lazaret, leaks } = await starting
    // What waits for the next run is left of none.
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
  // Here, so that what the file has opened before belongs to it.
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
  // The second cell makes a nursery worth its price, so that the tests' own cells are built as most cells are.
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
