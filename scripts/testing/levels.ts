/**
 * At which levels the tests of a file mean something. A file that is on none of these lists, and is not pure by what it
 * imports, runs at all of them: a list can only take away, and gives the reason.
 */
import { classOf } from './test-class.ts'
import type { TestClass } from './test-class.ts'

/** Who runs the tests, on what. `started` is whoever started the runner, which is root where the others can be had. */
export type Level =
  | 'started'
  | 'plain user'
  | 'started, without namespaces'
  | 'plain user, without namespaces'
  | 'started, on the oldest Node'
  | 'plain user, on the oldest Node'

/** What is the same whoever asks: the walls do not come into it, or the file looks at every kind of user by itself. */
const sameForEveryUser = [
  // Doors and runtimes, which know nothing of walls.
  'test/adapters/actor/',
  'test/adapters/mcp/',
  'test/adapters/snippet-tool/',
  // What programs find inside is tried at each level.
  ...['bridge', 'classes', 'crashes', 'growth', 'libraries', 'pool', 'reference', 'timeouts'].map(
    (name) => `test/adapters/code-execution/${name}.test.ts`,
  ),
  ...[
    'config-file',
    'configuration',
    'exec',
    'interruption',
    'option-doors',
    'output-folder',
    'outputs',
    'printed-values',
    'records',
    'run',
    'snippet',
    'usage',
  ].map((name) => `test/adapters/cli/${name}.test.ts`),
  'test/conformance/',
  'test/core/',
  // The host's own records and decisions.
  'test/observe/',
  'test/policy/',
  'test/pool/',
  'test/properties/',
  'test/runtimes/',
  'test-deep/hostile-values.test.ts',
  'test-deep/large-values.test.ts',
  'test-deep/round-trip.test.ts',
  'test-deep/wide/',
  // The host refuses, admits and reads in the same way, whatever stands around a guest.
  ...[
    'bare-realm',
    'hostile-requests',
    'many-runs',
    'one-story',
    'options',
    'parse-request',
    'require-node',
  ].map((name) => `test/engine/${name}.test.ts`),
  'test/contracts/values.test.ts',
  // Node's harness is Bun's; parked-runtimes tries both at each level.
  'test/contracts/node-runtime.test.ts',
  ...[
    'block-the-loop',
    'conceal-last-line',
    'costly-messages',
    'forged-calls',
    'forged-frames',
    'hidden-globals',
    'overflow-in-host-calls',
  ].map((name) => `test/escape/${name}.test.ts`),
  // A snippet has the same wall whoever runs it.
  'test/engine/snippets.test.ts',
  'test/escape/snippet-reach.test.ts',
  // Pages, packages, sources and scripts.
  ...[
    'architecture',
    'examples',
    'exports',
    'extending',
    'oldest-node',
    'option-pages',
    'package',
    'readme',
  ].map((name) => `test/${name}.test.ts`),
  'test/bench/',
  'test/compatibility/page.test.ts',
  'test/profiles/',
  'test/scripts/',
  'test/support/',
  'test-deep/fuzz.test.ts',
  'test-deep/sanitized-launcher.test.ts',
  'test-deep/soak.test.ts',
  // As root they become others themselves.
  'test-deep/sudden-deaths.test.ts',
  'test/engine/missing-layers.test.ts',
]

/**
 * Who owns a cell changes its ids, its capabilities and who counts what it takes. Here none of these is the matter, but
 * what guests can reach with namespaces and without: as whoever started the runner, and as the weaker of the two without.
 */
const sameForEveryOwner = [
  ...['hostile-input', 'memory'].map((name) => `test/adapters/code-execution/${name}.test.ts`),
  'test/contracts/parked-runtimes.test.ts',
  'test/engine/busy-host.test.ts',
  ...[
    'block-the-engine',
    'cancel-at-exit',
    'find-the-harness',
    'forge-on-every-descriptor',
    'huge-argv',
    'import-anything',
    'known-findings-of-actors',
    'last-words',
    'output-flood',
    'pooled-worker',
  ].map((name) => `test/escape/${name}.test.ts`),
]

/**
 * Root without namespaces counts as root does, and hides as a plain user without them does. The contract of the runtimes
 * is tried with both; attacks and limits, which are sharper, with root without namespaces too.
 */
const notAsRootWithoutNamespaces = ['test/contracts/runtimes.test.ts']

/**
 * They make machines that lack something, or plans with namespaces, and cannot on one that lacks these already. What is
 * left of sandboxes there test/sandbox/degraded.test.ts says.
 */
const notWithoutNamespaces = [
  ...sameForEveryUser,
  'test/compatibility/',
  'test/sandbox/',
  'test/escape/archive-of-many.test.ts',
  // What the host reads and executes by itself, before there is any wall.
  'test/escape/configuration-of-others.test.ts',
  'test/escape/packages-of-others.test.ts',
  'test/escape/steer-the-probe.test.ts',
  'test/escape/sandbox-',
  // Its guest needs an address of its own to connect to.
  'test/escape/freeze-who-reads.test.ts',
  'test/escape/search-the-log.test.ts',
  'test/escape/kill-the-host-of-sandboxes.test.ts',
  'test/escape/sudden-deaths.test.ts',
  ...['live-ids', 'malformed-frames', 'refused-views', 'step-failures', 'zygote'].map(
    (name) => `test/jail/${name}.test.ts`,
  ),
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
    'readme',
    'shared-objects',
    'tidy',
  ].map((name) => `test/${name}.test.ts`),
  ...[
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
  ...['growth', 'hostile-input', 'libraries', 'memory', 'reference'].map(
    (name) => `test/adapters/code-execution/${name}.test.ts`,
  ),
  ...['exec', 'outputs', 'snippet', 'usage'].map((name) => `test/adapters/cli/${name}.test.ts`),
  'test/adapters/snippet-tool/output-cap.test.ts',
  'test/adapters/snippet-tool/run-snippet.test.ts',
  'test/engine/busy-host.test.ts',
  'test/jail/seccomp/runtimes.test.ts',
  ...[
    'degraded',
    'exec-edge-cases',
    'failed-end',
    'files/hostile-guests',
    'files/model',
    'files/tar-attacks',
  ].map((name) => `test/sandbox/${name}.test.ts`),
]

/** What these tests themselves need of the Node that runs them, which what they test does without. */
const notOnOldest = [
  // Its other process watches what is loaded, by a hook that is younger.
  'test/observe/signed-receipts',
  // It compares with the prompt of that Node, which is to be the guests' own.
  'test/adapters/cli/printed-values',
  // Their clock stands still, or they look at what keeps no process alive, and older runners let one end that waits for
  // nothing else.
  'test/adapters/snippet-tool/memory',
  'test/pool/threads.test.ts',
  'test/sandbox/endless-output',
  'test/sandbox/processes',
  // An older Node opens many sources at one time, and here it has no descriptors for that.
  'test/engine/out-of-descriptors',
  // They dispose of what they made with a stack of the language's, or in programs that use its syntax.
  'test/jail/live-ids',
  'test/jail/refused-views',
  'test/sandbox/files/host-opens-nothing',
  'test/jail/zygote',
  'test/engine/missing-layers',
  'test/engine/refusals',
]

/** These take minutes as a plain user on the oldest Node, where each of the two alone has been tried. */
const notBothAtOnce = ['test/sandbox/']

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
  }
  return (Object.keys(levels) as Level[]).filter((level) => levels[level])
}

export function isBelow(file: string, places: readonly string[]): boolean {
  return places.some((place) => file.startsWith(place))
}
