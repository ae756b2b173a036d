/** Two hundred and fifty forks: enough to detect a random source with fewer than 2^13 states. */
import { testRandomForks } from '../test/support/sizes/random-forks-tests.ts'
import { useLazaret } from '../test/support/use-lazaret.ts'

testRandomForks(await useLazaret({ pools: { bun: {} } }), 250)
