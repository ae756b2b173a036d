/** The zygote of Node. */
import '../modules/workspace-modules.ts'
// What else the harness imports when a run needs it: by then it is loaded, and nobody reads files.
import '../../../core/values/decode-value.ts'
import '../bare-realm.ts'
import '../functions.ts'
import '../modules/module-code.ts'
import '../modules/typescript.ts'
import '../preload.ts'
import { becomeAnother } from './become-another-node.ts'
import { openNodeLibrary } from './node-library.ts'
import { runZygote } from './zygote.ts'

/** Behind the library, the language and the realm. */
const packagesAt = 5
const library = openNodeLibrary(process.argv[2] ?? '')
const hasPackages = process.argv.length > packagesAt
/** Before much else is done: where they are is seen while they have drawn little. */
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

const notFound = 'its generator of seeds is not found'
/** V8 makes this many at a time. */
const numbersReady = 64

/**
 * From now on `Math.random` has no seed, and takes one when it is called. Answers what is wrong: whether it is that state,
 * and that generator, is seen by what a call does to them.
 */
function forgetNumbers(): string | undefined {
  const isForgotten = (): boolean => {
    const drawn = Array.from({ length: numbersReady }, () => Math.random())
    const left = library.forgetNumbers(drawn)
    for (let count = 0; count < left; count++) Math.random()
    return left >= 0
  }
  const draws = (): boolean => (library.seedsWereDrawn(), Math.random(), library.seedsWereDrawn())
  const isFound = isForgotten() && draws() && !draws() && isForgotten()
  return isFound ? undefined : 'the state of its random numbers is not found'
}
