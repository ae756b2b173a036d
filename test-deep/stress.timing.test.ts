/** Every case of the stress deck at least once. */
import { testStress } from '../test/support/sizes/stress-tests.ts'

testStress({ runs: 140, warmUpRuns: 40 })
