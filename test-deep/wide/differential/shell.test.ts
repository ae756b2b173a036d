import { testDifferential } from '../../../test/support/sizes/differential-tests.ts'

await testDifferential('shell', 500)
