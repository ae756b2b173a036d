/** Twelve sudden deaths at random moments, other ones each time, without namespaces; test/escape/sudden-deaths.test.ts has theirs. */
import { testSuddenDeaths } from '../test/support/sudden-death-tests.ts'

testSuddenDeaths({ withNamespaces: 0, withoutNamespaces: 6 })
