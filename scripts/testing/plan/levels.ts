/**
 * At which levels the tests of a file run. A file runs at all levels unless a list below takes some away, with the reason, or
 * unless its imports show that it is pure.
 */
import { attacksFromForks } from './attacks-from-forks.ts'
import { sameForEveryUser } from './same-for-every-user.ts'
import { classOf } from './test-class.ts'
import type { TestClass } from './test-class.ts'

/**
 * The user who runs the tests, and the machine. `started` is the user who started the runner; the other users are possible
 * only if that is root.
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
 * These tests check what guests can reach with and without namespaces. They do not check what depends on the owner of a
 * cell: ids, capabilities and accounting. So they run as the user who started the runner, and without namespaces as the weaker
 * of the two users.
 */
const sameForEveryOwner = [
  'test/adapters/cli/commands/network.test.ts',
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
 * Root without namespaces has root's accounting and a plain user's isolation. The contract of the runtimes runs with both
 * users, and tests of attacks and limits also run as root without namespaces.
 */
const notAsRootWithoutNamespaces = ['runtimes', 'bun-runtime'].map((name) => `test/contracts/${name}.test.ts`)

/**
 * These tests need namespaces: they simulate machines that lack something, or apply plans with namespaces.
 * test/sandbox/lifecycle/degraded.test.ts checks what remains of sandboxes without namespaces.
 */
const notWithoutNamespaces = [
  ...sameForEveryUser,
  'test/compatibility/',
  'test/sandbox/',
  // Without namespaces no environment is built, see test/environments/refusals.test.ts.
  'test/environments/environments.test.ts',
  'test/environments/hostile-packages.test.ts',
  'test/escape/siblings/rewrite-another-environment.test.ts',
  // The host reads and executes these before any cell exists.
  'test/escape/host/configuration-of-others.test.ts',
  'test/escape/host/packages-of-others.test.ts',
  'test/escape/host/steer-the-probe.test.ts',
  'test/escape/sandbox/',
  // Without namespaces there are no forks.
  'test/escape/siblings/attack-the-zygote.test.ts',
  'test/escape/siblings/learn-from-siblings.test.ts',
  // Without namespaces shell runs share the host's files; pooled-worker tries them there.
  'test/escape/siblings/shells-in-one-cell.test.ts',
  // It hides the machine's cgroups with a mount namespace.
  'test/escape/limits/outnumber-the-watchdog.test.ts',
  // Without namespaces a run has no pid 1, and its guest sees no other processes.
  'test/engine/runs/stopped-pid-1.test.ts',
  // Its guest needs its own address to connect to.
  'test/escape/files/freeze-who-reads.test.ts',
  'test/escape/host/kill-the-host-of-sandboxes.test.ts',
  'test/escape/host/sudden-deaths.test.ts',
  'test/jail/machine/live-ids.test.ts',
  ...['malformed-frames', 'step-failures'].map((name) => `test/jail/launch/${name}.test.ts`),
  'test/jail/view/refused-views.test.ts',
  // It makes a namespace whose mounts are shared.
  'test/jail/view/shared-mounts.test.ts',
  ...['zygote', 'zygote-guests', 'engine-forks'].map((name) => `test/jail/cell/${name}.test.ts`),
  'test-deep/',
]

/** Independent of the host's Node: these tests look at sources or at guests. */
const sameOnOldest = [
  ...[
    'architecture',
    'attacks',
    'dependencies',
    'exports',
    'extending',
    'package',
    'page-names',
    'page-tables',
    'readme',
    'safe-defaults',
    'tidy',
  ].map((name) => `test/${name}.test.ts`),
  ...[
    'agents',
    'bench',
    'compatibility',
    // Browsers execute it.
    'console',
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

/** Many cases of one kind; daily tests check the same on the oldest Node with fewer cases. */
const wideOnOldest = [
  'test/adapters/actor/execution.test.ts',
  'test/adapters/actor/protocol.test.ts',
  'test/adapters/client/contexts.test.ts',
  ...['clients', 'pictures', 'sandboxes', 'validation'].map((name) => `test/adapters/mcp/${name}.test.ts`),
  ...['growth', 'hostile-input', 'libraries', 'memory', 'reference'].map(
    (name) => `test/adapters/code-execution/${name}.test.ts`,
  ),
  ...['env', 'exec', 'interruption', 'network', 'serve', 'snippet'].map(
    (name) => `test/adapters/cli/commands/${name}.test.ts`,
  ),
  ...['outputs', 'records'].map((name) => `test/adapters/cli/output/${name}.test.ts`),
  ...['usage'].map((name) => `test/adapters/cli/${name}.test.ts`),
  'test/adapters/mcp/costly-bodies.test.ts',
  'test/adapters/snippet-tool/output-cap.test.ts',
  'test/adapters/snippet-tool/run-snippet.test.ts',
  'test/engine/runs/busy-host.test.ts',
  'test/engine/runs/queue.test.ts',
  ...['network-packages', 'network-programs'].map((name) => `test/engine/runs/${name}.test.ts`),
  'test/environments/hostile-packages.test.ts',
  // A zygote's forks are processes of the guest's Node, and zygote.test.ts has the host's side of them.
  ...['engine-forks', 'forks-without-threads'].map((name) => `test/jail/cell/${name}.test.ts`),
  'test/jail/edge/hostile-bytes.test.ts',
  'test/jail/launch/step-failures.test.ts',
  'test/jail/seccomp/runtimes.test.ts',
  'test/observe/verify-audit.test.ts',
  'test/policy/validation/input-validator.test.ts',
  ...[
    'completion',
    'deaf-code',
    'displays',
    'forks',
    'interruptions',
    'libraries',
    'many',
    'recorded',
    'scripts',
  ].map((name) => `test/sandbox/contexts/${name}.test.ts`),
  'test/sandbox/jupyter/jupyter.test.ts',
  ...['secrets', 'without-network'].map((name) => `test/sandbox/network/${name}.test.ts`),
  ...['at-home', 'degraded', 'failed-end', 'roomy-limits'].map(
    (name) => `test/sandbox/lifecycle/${name}.test.ts`,
  ),
  'test/sandbox/commands/exec-edge-cases.test.ts',
  ...['files/hostile-guests', 'files/model', 'files/swap-while-used', 'files/tar-attacks'].map(
    (name) => `test/sandbox/${name}.test.ts`,
  ),
]

/** Tests that themselves need a newer Node, although what they test does not. */
const notOnOldest = [
  // Its other process watches imports with a hook that the oldest Node lacks.
  'test/observe/signed-receipts',
  // It compares with the prompt of the guests' Node, which would be another one.
  'test/adapters/cli/output/printed-values',
  // They use a fake clock, or check what does not keep a process alive. Older runners end a process that waits for nothing
  // else.
  'test/adapters/snippet-tool/memory',
  'test/pool/threads.test.ts',
  'test/sandbox/commands/endless-output',
  'test/sandbox/processes',
  // An older Node opens many sources at one time, and this test leaves it too few descriptors.
  'test/engine/refusals/out-of-descriptors',
  // They use DisposableStack, or programs with `using`.
  'test/jail/machine/live-ids',
  'test/jail/view/refused-views',
  'test/sandbox/files/host-opens-nothing',
  'test/jail/cell/zygote',
  'test/engine/refusals/missing-layers',
  'test/engine/refusals',
]

/**
 * These do not run as a plain user on the oldest Node: other passes cover the user and the Node separately, and the tests
 * take minutes or do not depend on the user.
 */
const notBothAtOnce = [
  'test/adapters/cli/commands/isolate',
  'test/adapters/code-execution/inside',
  'test/engine/',
  'test/environments/',
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
