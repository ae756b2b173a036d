/** Two hundred and fifty forks: a source of which each fork has fewer than 2^13 states shows. */
import { testRandomForks } from '../test/support/sizes/random-forks-tests.ts'
import { useLazaret } from '../test/support/use-lazaret.ts'

testRandomForks(await useLazaret({ pools: { bun: {} } }), 250)
