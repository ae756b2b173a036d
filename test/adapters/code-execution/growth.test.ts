/** The short form of test-deep/wide/isolate-growth.test.ts. */
import { testGrowth } from '../../support/sizes/isolate-growth-tests.ts'

testGrowth(500)
