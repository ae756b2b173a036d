/** Three hundred sudden deaths at random moments. */
import { testSuddenDeaths } from '../../test/support/sizes/sudden-death-tests.ts'

testSuddenDeaths({ withNamespaces: 100, withoutNamespaces: 50 })
