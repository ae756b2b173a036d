import { testDifferential } from '../../../test/support/sizes/differential-tests.ts'

await testDifferential('node', 500)
