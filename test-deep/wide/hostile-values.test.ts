/** Hostile JavaScript values that do not depend on the engine, in Node. Node shares Bun's harness, which is tested daily. */
import { hostileRunsOf } from '../../test/properties/hostile/describe-runs.ts'
import { javascriptValues } from '../../test/properties/hostile/javascript-values.ts'
import { node, useLazaret } from '../../test/support/use-lazaret.ts'

const { shapes, getters } = javascriptValues
const describeRuns = hostileRunsOf(await useLazaret())
describeRuns('node', { ...node, code: '[1, new Set([2])]' }, [1, new Set([2])], { shapes, getters })
