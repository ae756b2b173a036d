/** Every card of the deck of the stress at least once. */
import { testStress } from '../test/support/sizes/stress-tests.ts'

testStress({ runs: 140, warmUpRuns: 40 })
