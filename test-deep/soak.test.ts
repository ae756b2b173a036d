/** A working hour in half a minute: every card of the deck is dealt in each of two forms, some of them while it warms up. */
import { testSoak } from '../test/support/sizes/soak-tests.ts'

testSoak({ runs: 100, warmUpRuns: 80, deaths: 1 })
