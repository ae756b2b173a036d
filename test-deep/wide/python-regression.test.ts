/** The rest of CPython's own tests: what no wall stands in the way of. */
import { wideModules } from '../../test/conformance/python/regression-modules.ts'
import { testRegression } from '../../test/conformance/python/regression-suite.ts'

await testRegression(() => wideModules)
