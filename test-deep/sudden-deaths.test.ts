/** Eighteen sudden deaths at random moments, other ones each time. */
import { testSuddenDeaths } from '../test/support/sudden-death-tests.ts'

testSuddenDeaths(6)
