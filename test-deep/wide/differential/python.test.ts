import { testDifferential } from '../../../test/support/sizes/differential-tests.ts'

await testDifferential('python', 500)
