/** A thousand forks. */
import { testRandomForks } from '../../test/support/sizes/random-forks-tests.ts'
import { useLazaret } from '../../test/support/use-lazaret.ts'

testRandomForks(await useLazaret({ pools: { bun: {} } }), 1000)
