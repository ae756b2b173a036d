/**
 * The tests of CPython itself that depend on the wall. The faster modules are in
 * `test/conformance/python/regression.test.ts`, the others in `wide/`.
 */
import { deepModules, plainUserModules } from '../test/conformance/python/regression-modules.ts'
import { testRegression } from '../test/conformance/python/regression-suite.ts'

await testRegression((level) => (level === 'strong' ? deepModules : plainUserModules))
