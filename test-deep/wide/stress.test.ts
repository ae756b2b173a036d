/** A thousand runs and more, most of them hostile. */
import { testStress } from '../../test/support/sizes/stress-tests.ts'

testStress({ runs: 1200, warmUpRuns: 400 })
