/** The rest of CPython's own tests: those that no wall affects. */
import { wideModules } from '../../test/conformance/python/regression-modules.ts'
import { testRegression } from '../../test/conformance/python/regression-suite.ts'

await testRegression(() => wideModules)
