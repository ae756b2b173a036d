/** Six sudden deaths at random moments, other ones each time, without namespaces; test/escape/host/sudden-deaths.test.ts has theirs. */
import { testSuddenDeaths } from '../test/support/sizes/sudden-death-tests.ts'

testSuddenDeaths({ withNamespaces: 0, withoutNamespaces: 3 })
