/** Six sudden deaths at random moments, without namespaces; test/escape/host/sudden-deaths.test.ts has those with namespaces. */
import { testSuddenDeaths } from '../test/support/sizes/sudden-death-tests.ts'

testSuddenDeaths({ withNamespaces: 0, withoutNamespaces: 3 })
