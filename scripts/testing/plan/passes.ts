/** Which tests run when and as whom, and how many of them may be skipped. */
import { globSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { relative, resolve } from 'node:path'

import type { Lacking } from '../../../test/support/hosts/without-layer.ts'
import { isBelow, levelsOf } from './levels.ts'
import type { Level } from './levels.ts'

export interface Pass {
  readonly name: string
  readonly files: readonly string[]
  /** Run as this user instead of as the user who started the runner. */
  readonly userId?: number
  /** Run by the oldest supported Node instead of by this one. */
  readonly isOnOldest?: boolean
  /** Guests are forks of a zygote where possible: test/support/in-forks.ts. */
  readonly isInForks?: boolean
  /** What the kernel refuses to everything in this pass. */
  readonly lacking?: readonly Lacking[]
  /**
   * More skips than this fail the pass, because a suite that quietly stops running is worse than one that fails. Skips that a
   * missing optional package excuses do not count. Raise it only together with the test that adds a skip.
   */
  readonly skippedMax: number
  /** The whole pass may take this long. (A test that holds a descriptor or a timer keeps its file from ending.) */
  readonly wallMs: number
  /** How many files run at one time. */
  readonly processes: number
  /** Whether failed files run a second time, alone, if they are few. */
  readonly mayFailOnce?: boolean
}

/**
 * `daily`: the tests that a change needs, as the user who started the runner. `rest`: everything else; together the two leave
 * nothing out and run nothing twice. `wide`: also the suites that rarely find anything. `oldest`: only tests on the oldest
 * Node.
 */
export type Tier = 'daily' | 'rest' | 'wide' | 'oldest'

export interface Wanted {
  readonly tier: Tier
  /** Only these files, and files below these folders. */
  readonly filters: readonly string[]
  readonly isRoot: boolean
}

/** An id that no usual distribution assigns. Not `nobody`, who may own files. */
const plainUserId = 65_533

/** Tests that `npm test` leaves to `npm run test:all`, which runs them as the user who started it, too. */
export const notDaily = [
  // Many cases of one kind: tables, long runs, and behaviour that daily tests check with fewer cases.
  'test-deep/',
  'test/adapters/snippet-tool/memory',
  'test/adapters/snippet-tool/output-cap',
  'test/adapters/snippet-tool/run-snippet',
  'test/adapters/snippet-tool/timeouts',
  'test/bench/sections',
  'test/compatibility/',
  'test/conformance/javascript/',
  'test/conformance/python/conformance',
  'test/engine/runs/busy-host',
  'test/engine/refusals/missing-layers',
  'test/engine/refusals/refusals-at-doors',
  'test/escape/host/block-the-loop',
  'test/properties/hostile-bytes',
  'test/properties/hostile-values',
  'test/properties/results-travel',
  'test/properties/round-trip',
  'test/properties/python-kinds',
  'test/properties/snippet-determinism',
  // The contract of the runtimes again: with parked workers, for Node (which has Bun's harness), and over HTTP.
  'test/contracts/parked-runtimes',
  'test/contracts/node-runtime',
  'test/contracts/remote-runtimes',
  // Pages, examples and the package, as users meet them.
  'test/agents/',
  'test/examples',
  'test/extending',
  'test/http-page',
  'test/package',
  'test/readme',
  'test/safe-defaults',
  // Many cases, each with a process of the command or a start of an engine.
  'test/adapters/cli/commands/env',
  'test/adapters/cli/commands/exec',
  'test/adapters/cli/commands/interruption',
  'test/adapters/cli/repl/',
  'test/adapters/cli/output/outputs',
  'test/adapters/cli/output/printed-values',
  'test/adapters/cli/commands/snippet',
  'test/adapters/cli/usage',
  'test/adapters/actor/execution',
  'test/adapters/actor/protocol',
  'test/adapters/cli/output/records',
  'test/adapters/cli/commands/serve',
  'test/adapters/http/disconnect',
  'test/adapters/http/serve-end',
  'test/adapters/http/slow',
  'test/adapters/mcp/cancel',
  'test/adapters/mcp/slow',
  'test/adapters/mcp/clients',
  'test/adapters/mcp/command',
  'test/adapters/mcp/sandboxes',
  'test/adapters/mcp/validation',
  'test/jail/seccomp/runtimes',
  'test/profiles/',
  'test/engine/runs/network-packages',
  'test/engine/runs/network-programs',
  'test/runtimes/functions/limits',
  'test/runtimes/javascript/completion',
  'test/runtimes/javascript/failures',
  'test/runtimes/javascript/libraries',
  'test/runtimes/javascript/modules',
  'test/runtimes/javascript/package-suite',
  'test/runtimes/javascript/patched-realm',
  'test/runtimes/preload-packages',
  'test/runtimes/python/environments',
  'test/runtimes/python/packages',
  'test/sandbox/contexts/many',
  'test/sandbox/contexts/scripts',
  // Failures and hostile clients of sandboxes, pools and services; their ordinary use is tested daily.
  'test/adapters/code-execution/crashes',
  'test/adapters/code-execution/growth',
  'test/adapters/code-execution/memory',
  'test/adapters/mcp/costly-bodies',
  'test/environments/hostile-packages',
  'test/jail/cell/engine-forks',
  'test/jail/edge/hostile-bytes',
  'test/jail/launch/malformed-frames',
  'test/jail/launch/step-failures',
  'test/pool/threads.test.ts',
  'test/sandbox/lifecycle/degraded',
  'test/sandbox/commands/exec-edge-cases',
  'test/sandbox/lifecycle/failed-end',
  'test/sandbox/files/cut-downloads',
  'test/sandbox/files/hostile-guests',
  'test/sandbox/files/model',
  'test/sandbox/files/tar-attacks',
  // Long attacks that a limit ends, with many variants or repetitions. Daily tests attack the same limits: fork-bomb,
  // memory-bomb, output-flood, outlast-the-deadline, forged-frames, kill-the-launcher, pools of forks,
  // learn-from-siblings.
  'test/escape/files/archive-of-many',
  'test/escape/engines/block-the-engine',
  'test/escape/limits/burn-the-cpu',
  'test/escape/outcome/cancel-at-exit',
  'test/escape/files/collected-files',
  'test/escape/host/configuration-of-others',
  'test/escape/host/costly-messages',
  'test/escape/limits/evade-the-count',
  'test/escape/limits/fill-the-disk',
  'test/escape/outcome/find-the-harness',
  'test/escape/limits/fork-storm-at-the-kill',
  'test/escape/engines/hidden-globals',
  'test/escape/limits/hoard-kernel-memory',
  'test/escape/limits/hoard-locks',
  'test/escape/limits/hoard-watches',
  'test/escape/sandbox/jupyter-server',
  'test/escape/host/kill-the-host.test.ts',
  'test/escape/engines/known-findings-of-actors',
  'test/escape/limits/largest-output',
  'test/escape/outcome/last-words',
  'test/escape/limits/memory-bombs-of-engines',
  'test/escape/limits/million-dentries',
  'test/escape/host/packages-of-others',
  'test/escape/siblings/pooled-worker',
  'test/escape/sandbox/sandbox-timeouts',
  'test/escape/engines/snippet-reach',
  'test/escape/host/search-the-log',
  'test/escape/host/sudden-deaths',
  'test/escape/files/swap-while-collected',
]

/** The same tests with more rounds, values and modules. They take minutes and rarely find anything. */
const wide = ['test-deep/wide/']

/** Even on a machine with a compiler, Python, Bun, git and cgroups, a few cases cannot run. */
const rootSkippedMax = { daily: 6, rest: 4 }
/** Without cgroups and separate ids, the cases about these have nothing to inspect. */
const plainUserSkippedMax = 24
/** Without namespaces, tests check what replaces them. The remaining skips are those above, except for cgroups of containers. */
const withoutNamespacesSkippedMax = { root: 15, plainUser: 20 }

const minute = 60_000

export function planPasses(wanted: Wanted): Pass[] {
  const planned = planLevels(wanted)
  const found = findFiles(wanted.filters)
  const passes = planned.flatMap(({ level, choose, ...common }) => {
    const files = found.filter((file) => levelsOf(file).includes(level) && choose(file))
    // A run of a few named files reports each failure.
    const pass = { ...common, wallMs: 30 * minute, mayFailOnce: wanted.filters.length === 0 }
    const together: Pass = {
      ...pass,
      files: files.filter((file) => !isAboutTime(file)),
      processes: processesAtOnce,
    }
    const alone: Pass = {
      ...pass,
      name: `${pass.name}, one by one`,
      files: files.filter(isAboutTime),
      processes: 1,
    }
    return [together, alone]
  })
  return passes.filter(({ files }) => files.length > 0)
}

/** Files spend half of their time waiting, so fewer of them would leave processors idle. */
const processesAtOnce = Math.min(6, 3 * availableParallelism())

/** Tests that measure time run when nothing else does. */
function isAboutTime(file: string): boolean {
  return file.endsWith('.timing.test.ts')
}

interface PlannedLevel extends Omit<Pass, 'files' | 'wallMs' | 'processes'> {
  readonly level: Level
  readonly choose: (file: string) => boolean
}

function planLevels({ tier, filters, isRoot }: Wanted): PlannedLevel[] {
  const isDaily = (file: string) => !isBelow(file, notDaily)
  // A file named on the command line always runs.
  const isMeant = (file: string) =>
    tier === 'wide' || !isBelow(file, wide) || filters.some((one) => isBelow(one, wide))
  const started = {
    level: 'started',
    name: isRoot ? 'as root' : 'as a plain user',
    skippedMax: isRoot ? rootSkippedMax[tier === 'daily' ? 'daily' : 'rest'] : plainUserSkippedMax,
  } as const
  if (tier === 'daily') return [{ ...started, choose: (file) => isDaily(file) || filters.length > 0 }]
  const onOldest = planOnOldest(isRoot)
  if (tier === 'oldest') return onOldest
  const late = {
    ...started,
    name: `${started.name}, the rest`,
    choose: (file: string) => !isDaily(file) && isMeant(file),
  }
  return [late, ...planOtherLevels(isRoot), ...onOldest].map((one) => ({
    ...one,
    choose: (file) => one.choose(file) && isMeant(file),
  }))
}

function planOtherLevels(isRoot: boolean): PlannedLevel[] {
  const asPlainUser = isRoot ? { userId: plainUserId } : {}
  const who = isRoot ? `as uid ${plainUserId}` : 'as a plain user'
  const plain: PlannedLevel = {
    level: 'plain user, without namespaces',
    name: `${who}, without namespaces`,
    choose: () => true,
    ...asPlainUser,
    lacking: ['user-namespaces'],
    skippedMax: withoutNamespacesSkippedMax.plainUser,
  }
  const inForks = { choose: () => true, isInForks: true }
  const started: PlannedLevel = {
    ...inForks,
    level: 'started, in forks',
    name: `${isRoot ? 'as root' : who}, in forks`,
    skippedMax: isRoot ? rootSkippedMax.rest : plainUserSkippedMax,
  }
  if (!isRoot) return [plain, started]
  return [
    started,
    {
      ...inForks,
      ...asPlainUser,
      level: 'plain user, in forks',
      name: `${who}, in forks`,
      skippedMax: plainUserSkippedMax,
    },
    {
      level: 'plain user',
      name: who,
      choose: () => true,
      ...asPlainUser,
      skippedMax: plainUserSkippedMax,
    },
    {
      level: 'started, without namespaces',
      name: 'as root, without namespaces',
      choose: () => true,
      lacking: ['user-namespaces', 'sys-admin'],
      skippedMax: withoutNamespacesSkippedMax.root,
    },
    plain,
  ]
}

function planOnOldest(isRoot: boolean): PlannedLevel[] {
  const started: PlannedLevel = {
    level: 'started, on the oldest Node',
    name: `${isRoot ? 'as root' : 'as a plain user'}, on the oldest Node`,
    choose: () => true,
    isOnOldest: true,
    skippedMax: isRoot ? rootSkippedMax.rest : plainUserSkippedMax,
  }
  if (!isRoot) return [started]
  const plain: PlannedLevel = {
    level: 'plain user, on the oldest Node',
    name: `as uid ${plainUserId}, on the oldest Node`,
    choose: () => true,
    userId: plainUserId,
    isOnOldest: true,
    skippedMax: plainUserSkippedMax,
  }
  return [started, plain]
}

/** The test files that the filters name, or that lie below a named folder; without filters, all of them. */
function findFiles(filters: readonly string[]): string[] {
  const wanted = filters.map((filter) => relative(process.cwd(), resolve(filter)))
  const files = globSync(['test/**/*.test.ts', 'test-deep/**/*.test.ts']).sort()
  if (wanted.length === 0) return files
  return files.filter((file) => wanted.some((filter) => file === filter || file.startsWith(`${filter}/`)))
}
