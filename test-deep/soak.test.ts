/** A soak of half a minute: every case of the deck in each of two forms, some of them during the warm-up. */
import { testSoak } from '../test/support/sizes/soak-tests.ts'

testSoak({ runs: 100, warmUpRuns: 80, deaths: 1 })
