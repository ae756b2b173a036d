/**
 * TypeScript that is the body of a function. As a module it may have imports and namespaces but no `return`; as a function it
 * is the other way round. What is neither gets the module's error.
 */
import { CompileError } from '../../javascript/errors.ts'
import type { MapPosition } from '../../javascript/modules/positions.ts'

const head = 'async function body() {'

export async function compileBody(code: string): Promise<{ text: string; toWritten: MapPosition }> {
  const { compileTypeScript } = await import('../../javascript/modules/typescript.ts')
  try {
    return compileTypeScript(code)
  } catch (thrown) {
    if (!(thrown instanceof CompileError)) throw thrown
    try {
      return inFunction(compileTypeScript(`${head}${code}\n}`))
    } catch {
      throw thrown
    }
  }
}

/** The compiler prints the function's head and end on their own lines. */
function inFunction({ text, toWritten }: { text: string; toWritten: MapPosition }): {
  text: string
  toWritten: MapPosition
} {
  const start = text.indexOf('\n') + 1
  if (text.slice(0, start).trimEnd() !== head)
    throw new CompileError('SyntaxError', 'The code cannot be read.')
  return {
    text: text.slice(start, text.lastIndexOf('}')),
    toWritten: ({ line, column }) => {
      const written = toWritten({ line: line + 1, column })
      return written.line === 1 ? { line: 1, column: Math.max(1, written.column - head.length) } : written
    },
  }
}
