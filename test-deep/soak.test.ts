/** A working hour in half a minute: every card of the deck is dealt in each of two forms. */
import { testSoak } from '../test/support/soak-tests.ts'

testSoak({ runs: 180, warmUpRuns: 100, deaths: 1 })
