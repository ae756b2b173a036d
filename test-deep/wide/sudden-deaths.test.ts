/** Three hundred sudden deaths at random moments. */
import { testSuddenDeaths } from '../../test/support/sudden-death-tests.ts'

testSuddenDeaths(100)
