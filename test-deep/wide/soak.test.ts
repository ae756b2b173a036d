/** A working day in two minutes. */
import { testSoak } from '../../test/support/sizes/soak-tests.ts'

testSoak({ runs: 600, warmUpRuns: 400, deaths: 2 })
