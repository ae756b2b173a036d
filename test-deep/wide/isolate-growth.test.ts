/** Ten thousand programs in the same workers: as many as a worker serves. */
import { testGrowth } from '../../test/support/isolate-growth-tests.ts'

testGrowth(10_000)
