/**
 * At which levels the tests of a file mean something. A file that is on none of these lists, and is not pure by what it
 * imports, runs at all of them: a list can only take away, and gives the reason.
 */
import { attacksFromForks } from './attacks-from-forks.ts'
import { sameForEveryUser } from './same-for-every-user.ts'
import { classOf } from './test-class.ts'
import type { TestClass } from './test-class.ts'

/**
 * The user who runs the tests, and the machine. `started` is the user who started the runner, which is root where the
 * others can be had.
 */
export type Level =
  | 'started'
  | 'plain user'
  | 'started, without namespaces'
  | 'plain user, without namespaces'
  | 'started, on the oldest Node'
  | 'plain user, on the oldest Node'
  | 'started, in forks'
  | 'plain user, in forks'

/**
 * The owner of a cell determines its ids, its capabilities and the accounting. These tests are not about those, but
 * about what guests can reach with namespaces and without: as the user who started the runner, and without namespaces
 * as the weaker of the two users.
 */
const sameForEveryOwner = [
  ...['hostile-input', 'memory'].map((name) => `test/adapters/code-execution/${name}.test.ts`),
  'test/contracts/parked-runtimes.test.ts',
  'test/engine/runs/busy-host.test.ts',
  ...['block-the-engine', 'import-anything', 'known-findings-of-actors'].map(
    (name) => `test/escape/engines/${name}.test.ts`,
  ),
  ...['cancel-at-exit', 'find-the-harness', 'forge-on-every-descriptor', 'last-words'].map(
    (name) => `test/escape/outcome/${name}.test.ts`,
  ),
  ...['huge-argv', 'output-flood'].map((name) => `test/escape/limits/${name}.test.ts`),
  'test/escape/siblings/pooled-worker.test.ts',
]

/**
 * Root without namespaces counts as root does, and hides as a plain user without them does. The contract of the runtimes
 * is tried with both; attacks and limits, which are sharper, with root without namespaces too.
 */
const notAsRootWithoutNamespaces = ['test/contracts/runtimes.test.ts']

/**
 * They make machines that lack something, or plans with namespaces, and cannot on one that lacks these already. What is
 * left of sandboxes there test/sandbox/lifecycle/degraded.test.ts says.
 */
const notWithoutNamespaces = [
  ...sameForEveryUser,
  'test/compatibility/',
  'test/sandbox/',
  // Environments are not built there, which test/environments/refusals.test.ts shows.
  'test/environments/environments.test.ts',
  'test/environments/hostile-packages.test.ts',
  // A code context, which takes a space.
  'test/adapters/cli/repl/repl.test.ts',
  'test/escape/files/archive-of-many.test.ts',
  // What the host itself reads and executes, before any cell exists.
  'test/escape/host/configuration-of-others.test.ts',
  'test/escape/host/packages-of-others.test.ts',
  'test/escape/host/steer-the-probe.test.ts',
  'test/escape/sandbox/',
  // Without namespaces nobody is a fork.
  'test/escape/siblings/attack-the-zygote.test.ts',
  'test/escape/siblings/learn-from-siblings.test.ts',
  // Its guest needs its own address to connect to.
  'test/escape/files/freeze-who-reads.test.ts',
  'test/escape/host/search-the-log.test.ts',
  'test/escape/host/kill-the-host-of-sandboxes.test.ts',
  'test/escape/host/sudden-deaths.test.ts',
  'test/jail/machine/live-ids.test.ts',
  ...['malformed-frames', 'step-failures'].map((name) => `test/jail/launch/${name}.test.ts`),
  'test/jail/view/refused-views.test.ts',
  ...['zygote', 'engine-forks'].map((name) => `test/jail/cell/${name}.test.ts`),
  'test-deep/',
]

/** What does not depend on the Node of the host: it looks at sources, or at what guests are. */
const sameOnOldest = [
  ...[
    'architecture',
    'attacks',
    'dependencies',
    'exports',
    'extending',
    'oldest-node',
    'option-pages',
    'package',
    'page-table-names',
    'page-tables',
    'readme',
    'safe-defaults',
    'shared-objects',
    'tidy',
  ].map((name) => `test/${name}.test.ts`),
  ...[
    'agents',
    'bench',
    'compatibility',
    'conformance',
    'contracts',
    'escape',
    'profiles',
    'properties',
    'runtimes',
    'scripts',
    'support',
  ].map((name) => `test/${name}/`),
  'test-deep/',
]

/** Wide rather than sharp: what daily tests show on the oldest Node with fewer cases. */
const wideOnOldest = [
  'test/adapters/actor/execution.test.ts',
  'test/adapters/actor/protocol.test.ts',
  ...['clients', 'validation'].map((name) => `test/adapters/mcp/${name}.test.ts`),
  ...['growth', 'hostile-input', 'libraries', 'memory', 'reference'].map(
    (name) => `test/adapters/code-execution/${name}.test.ts`,
  ),
  ...['exec', 'interruption', 'snippet'].map((name) => `test/adapters/cli/commands/${name}.test.ts`),
  ...['outputs', 'records'].map((name) => `test/adapters/cli/output/${name}.test.ts`),
  ...['usage'].map((name) => `test/adapters/cli/${name}.test.ts`),
  'test/adapters/snippet-tool/output-cap.test.ts',
  'test/adapters/snippet-tool/run-snippet.test.ts',
  'test/engine/runs/busy-host.test.ts',
  'test/engine/runs/queue.test.ts',
  'test/jail/seccomp/runtimes.test.ts',
  'test/policy/validation/input-validator.test.ts',
  ...['degraded', 'failed-end'].map((name) => `test/sandbox/lifecycle/${name}.test.ts`),
  'test/sandbox/commands/exec-edge-cases.test.ts',
  ...['files/hostile-guests', 'files/model', 'files/tar-attacks'].map(
    (name) => `test/sandbox/${name}.test.ts`,
  ),
]

/** What these tests themselves need of the Node that runs them, which what they test does without. */
const notOnOldest = [
  // Its other process watches what is loaded, by a hook that is younger.
  'test/observe/signed-receipts',
  // It compares with the prompt of that Node, which is to be the guests' own.
  'test/adapters/cli/output/printed-values',
  // Their clock stands still, or they look at what keeps no process alive, and older runners let one end that waits for
  // nothing else.
  'test/adapters/snippet-tool/memory',
  'test/pool/threads.test.ts',
  'test/sandbox/commands/endless-output',
  'test/sandbox/processes',
  // An older Node opens many sources at one time, and here it has no descriptors for that.
  'test/engine/refusals/out-of-descriptors',
  // They dispose of what they made with a stack of the language, or in programs that use its syntax.
  'test/jail/machine/live-ids',
  'test/jail/view/refused-views',
  'test/sandbox/files/host-opens-nothing',
  'test/jail/cell/zygote',
  'test/engine/refusals/missing-layers',
  'test/engine/refusals',
]

/**
 * As a plain user on the oldest Node each of these would take minutes, or start an engine once more for what knows nothing
 * of who started it, where each of the two alone has been tried.
 */
const notBothAtOnce = [
  'test/adapters/cli/commands/isolate',
  'test/adapters/code-execution/inside',
  'test/engine/',
  'test/sandbox/',
]

export const lists = {
  sameForEveryUser,
  sameForEveryOwner,
  notAsRootWithoutNamespaces,
  notWithoutNamespaces,
  sameOnOldest,
  wideOnOldest,
  notOnOldest,
  notBothAtOnce,
}

export function levelsOf(file: string, testClass: TestClass = classOf(file)): Level[] {
  const hasWalls = testClass !== 'pure'
  const differsByUser = hasWalls && !isBelow(file, [...sameForEveryUser, ...sameForEveryOwner])
  const differsWithoutNamespaces = hasWalls && !isBelow(file, notWithoutNamespaces)
  const differsOnOldest = !isBelow(file, [...sameOnOldest, ...wideOnOldest, ...notOnOldest])
  const levels: Record<Level, boolean> = {
    started: true,
    'plain user': differsByUser,
    'started, without namespaces':
      differsWithoutNamespaces && differsByUser && !isBelow(file, notAsRootWithoutNamespaces),
    'plain user, without namespaces': differsWithoutNamespaces,
    'started, on the oldest Node': differsOnOldest,
    'plain user, on the oldest Node': differsOnOldest && differsByUser && !isBelow(file, notBothAtOnce),
    'started, in forks': attacksFromForks(file),
    'plain user, in forks': attacksFromForks(file) && differsByUser,
  }
  return (Object.keys(levels) as Level[]).filter((level) => levels[level])
}

export function isBelow(file: string, places: readonly string[]): boolean {
  return places.some((place) => file.startsWith(place))
}
