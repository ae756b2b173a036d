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
  'test/adapters/snippet-tool/',
  ...[
    'config-file',
    'configuration',
    'exec',
    'interruption',
    'option-doors',
    'output-folder',
    'outputs',
    'printed-values',
    'snippet',
    'usage',
  ].map((name) => `test/adapters/cli/${name}.test.ts`),
  'test/conformance/',
  'test/core/',
  'test/pool/',
  'test/properties/',
  'test/runtimes/',
  'test-deep/hostile-values.test.ts',
  'test-deep/large-values.test.ts',
  'test-deep/round-trip.test.ts',
  'test-deep/wide/',
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
]

/**
 * They make machines that lack something, or plans with namespaces, and cannot on one that lacks these already. What is
 * left of sandboxes there test/sandbox/degraded.test.ts says.
 */
const notWithoutNamespaces = [
  ...sameForEveryUser,
  'test/compatibility/',
  'test/sandbox/',
  'test/escape/archive-of-many.test.ts',
  'test/escape/sandbox-',
  'test/escape/search-the-log.test.ts',
  'test/escape/kill-the-host-of-sandboxes.test.ts',
  'test/engine/missing-layers.test.ts',
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

/** What these tests themselves need of the Node that runs them, which what they test does without. */
const notOnOldest = [
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

export const lists = { sameForEveryUser, notWithoutNamespaces, sameOnOldest, notOnOldest, notBothAtOnce }

export function levelsOf(file: string, testClass: TestClass = classOf(file)): Level[] {
  const hasWalls = testClass !== 'pure'
  const differsByUser = hasWalls && !isBelow(file, sameForEveryUser)
  const differsWithoutNamespaces = hasWalls && !isBelow(file, notWithoutNamespaces)
  const differsOnOldest = !isBelow(file, [...sameOnOldest, ...notOnOldest])
  const levels: Record<Level, boolean> = {
    started: true,
    'plain user': differsByUser,
    'started, without namespaces': differsWithoutNamespaces,
    'plain user, without namespaces': differsWithoutNamespaces,
    'started, on the oldest Node': differsOnOldest,
    'plain user, on the oldest Node': differsOnOldest && differsByUser && !isBelow(file, notBothAtOnce),
  }
  return (Object.keys(levels) as Level[]).filter((level) => levels[level])
}

export function isBelow(file: string, places: readonly string[]): boolean {
  return places.some((place) => file.startsWith(place))
}
