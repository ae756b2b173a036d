/**
 * Compiles TypeScript that is the body of a function. Compiled as a module, it may contain imports and namespaces but no
 * `return`; compiled as a function, the reverse. If both fail, the module's error is reported.
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
    throw new CompileError('SyntaxError', 'The code cannot be compiled as the body of a function.')
  return {
    text: text.slice(start, text.lastIndexOf('}')),
    toWritten: ({ line, column }) => {
      const written = toWritten({ line: line + 1, column })
      return written.line === 1 ? { line: 1, column: Math.max(1, written.column - head.length) } : written
    },
  }
}
