/** Ten thousand programs: several times as many as a worker serves. */
import { testGrowth } from '../../test/support/sizes/isolate-growth-tests.ts'

testGrowth(10_000)
