/**
 * Finds the place of a syntax error in a function body, because engines do not report it when they compile functions.
 */
import type * as acorn from 'acorn'
import { requireAcorn } from '../../javascript/harness-packages.ts'
import type { Position } from '../../javascript/modules/positions.ts'

export function syntaxErrorPlace(source: string): Position | undefined {
  // The same parameters as in the isolate, whose names the body must not declare again.
  const head = 'async function body(input,output){'
  try {
    requireAcorn().parse(`${head}${source}\n}`, { ecmaVersion: 'latest', sourceType: 'script' })
    return undefined
  } catch (thrown) {
    const place = (thrown as { readonly loc?: acorn.Position }).loc
    if (place === undefined) return undefined
    return { line: place.line, column: place.column + 1 - (place.line === 1 ? head.length : 0) }
  }
}
