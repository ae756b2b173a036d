/** The zygote of Node. */
import '../modules/workspace-modules.ts'
// Modules that the harness otherwise imports when a run needs them: a fork has them loaded.
import '../../../core/values/decode-value.ts'
import '../bare-realm.ts'
import '../functions.ts'
import '../modules/module-code.ts'
import '../modules/typescript.ts'
import '../preload.ts'
import { becomeAnother } from './become-another-node.ts'
import { openNodeLibrary } from './node-library.ts'
import { runZygote } from './zygote.ts'

/** The index in argv of the first package, after the library, the workspace, the language and the realm. */
const packagesAt = 6
const library = openNodeLibrary(process.argv[2] ?? '')
const hasPackages = process.argv.length > packagesAt
/** Called early: the generators are recognized by their state while they have produced few seeds. */
const generators = library.findSeeds()

void runZygote({
  name: 'Node',
  version: process.versions.node,
  versionsTried: ['24.21.0'],
  library,
  settle: () => (generators > 0 ? forgetNumbers() : notFound),
  becomeAnother: () => becomeAnother(library, hasPackages),
  load: () => Promise.resolve(),
})

const notFound = 'the seed generator of V8 was not found'
/** V8 computes this many random numbers at a time. */
const cachedNumbers = 64

/**
 * Clears the state of `Math.random`, so that the next call takes a new seed. A call must change the state and the generator
 * as expected, which proves that they are the right ones. Returns what is wrong.
 */
function forgetNumbers(): string | undefined {
  const isForgotten = (): boolean => {
    const drawn = Array.from({ length: cachedNumbers }, () => Math.random())
    const left = library.forgetNumbers(drawn)
    for (let count = 0; count < left; count++) Math.random()
    return left >= 0
  }
  const draws = (): boolean => (library.seedsWereDrawn(), Math.random(), library.seedsWereDrawn())
  const isFound = isForgotten() && draws() && !draws() && isForgotten()
  return isFound ? undefined : 'the state of Math.random was not found'
}
