/**
 * Records the completion value of a program that must run as a function body. By the rules of ECMAScript this is the value
 * of the last expression statement that ran. `if`, loops, `switch` and `try` reset it to `undefined`; declarations and empty
 * statements do not change it.
 */
import type * as acorn from 'acorn'
import type { Edits } from './edits.ts'

type Statement = acorn.Program['body'][number] | acorn.Statement

/** The code, its edits so far, and names for the edits that do not occur in the code. */
export interface Rewrite {
  readonly code: string
  readonly edits: Edits
  readonly names: {
    /** The variable that holds the value. */
    readonly value: string
    /** A constant that keeps the value while a `finally` block runs. */
    readonly saved: string
  }
}

/** Instruments the statements of a program. */
export function recordCompletion(body: readonly Statement[], rewrite: Rewrite): void {
  const recorder = new Recorder(rewrite)
  // No jump leaves the program. So only the last statement that surely has a value, and those after it, can matter. Code
  // before it, such as long loops, stays fast.
  const last = body.findLastIndex((statement) => hasSureValue(statement))
  for (const statement of body.slice(Math.max(last, 0))) recorder.record(statement)
}

/** Statements whose completion is never empty. */
function hasSureValue(statement: Statement): boolean {
  switch (statement.type) {
    case 'ExpressionStatement':
      return !isAddedByCompiler(statement)
    case 'IfStatement':
    case 'SwitchStatement':
    case 'TryStatement':
    case 'ForStatement':
    case 'ForInStatement':
    case 'ForOfStatement':
    case 'WhileStatement':
    case 'DoWhileStatement':
      return true
    default:
      return false
  }
}

class Recorder {
  readonly #code: string
  readonly #edits: Edits
  readonly #names: Rewrite['names']

  constructor({ code, edits, names }: Rewrite) {
    this.#code = code
    this.#edits = edits
    this.#names = names
  }

  record(statement: Statement): void {
    switch (statement.type) {
      case 'ExpressionStatement':
        return this.#recordExpression(statement)
      case 'BlockStatement':
        return this.#recordAll(statement.body)
      case 'LabeledStatement':
        return this.#recordLabeled(statement)
      case 'IfStatement':
      case 'SwitchStatement':
      case 'TryStatement':
      case 'ForStatement':
      case 'ForInStatement':
      case 'ForOfStatement':
      case 'WhileStatement':
      case 'DoWhileStatement':
        this.#edits.insert(statement.start, `{${this.#reset}`)
        this.#recordInside(statement)
        this.#edits.insert(statement.end, '}')
    }
  }

  get #reset(): string {
    return `${this.#names.value}=void 0;`
  }

  #recordAll(statements: readonly Statement[]): void {
    for (const statement of statements) this.record(statement)
  }

  #recordExpression(statement: acorn.ExpressionStatement): void {
    if (isAddedByCompiler(statement)) return
    const hasSemicolon = this.#code[statement.end - 1] === ';'
    this.#edits.insert(statement.start, `${this.#names.value}=(`)
    // Always adds a semicolon: without one, a next line that begins with `(` or `[` would continue the expression.
    this.#edits.insert(hasSemicolon ? statement.end - 1 : statement.end, hasSemicolon ? ')' : ');')
  }

  /** A label must directly precede its loop for `continue` to work, so the reset goes before the label. */
  #recordLabeled(statement: acorn.LabeledStatement): void {
    let { body } = statement
    while (body.type === 'LabeledStatement') body = body.body
    if (!hasSureValue(body) || body.type === 'ExpressionStatement') return this.record(body)
    this.#edits.insert(statement.start, `{${this.#reset}`)
    this.#recordInside(body)
    this.#edits.insert(statement.end, '}')
  }

  #recordInside(statement: Statement): void {
    switch (statement.type) {
      case 'IfStatement':
        this.record(statement.consequent)
        if (statement.alternate) this.record(statement.alternate)
        return
      case 'SwitchStatement':
        for (const { consequent } of statement.cases) this.#recordAll(consequent)
        return
      case 'TryStatement':
        return this.#recordTry(statement)
      case 'ForStatement':
      case 'ForInStatement':
      case 'ForOfStatement':
      case 'WhileStatement':
      case 'DoWhileStatement':
        this.record(statement.body)
    }
  }

  #recordTry({ block, handler, finalizer }: acorn.TryStatement): void {
    this.#recordAll(block.body)
    if (handler) {
      // A value that the block computed before it threw does not count.
      this.#edits.insert(handler.body.start + 1, this.#reset)
      this.#recordAll(handler.body.body)
    }
    if (finalizer) {
      // The value of `finally` counts only if it jumps out, and then the line that restores the value does not run.
      const { value, saved } = this.#names
      this.#edits.insert(finalizer.start + 1, `const ${saved}=${value};${this.#reset}`)
      this.#recordAll(finalizer.body)
      this.#edits.insert(finalizer.end - 1, `;${value}=${saved};`)
    }
  }
}

/** Whether this is the `(function(_N) { … })(N || (N = {}))` of a TypeScript namespace, or a call of a decorator helper. */
function isAddedByCompiler({ expression }: acorn.ExpressionStatement): boolean {
  if (isDecoration(expression)) return true
  if (expression.type === 'AssignmentExpression') return isDecoration(expression.right)
  if (expression.type !== 'CallExpression' || expression.callee.type !== 'FunctionExpression') return false
  const [argument] = expression.arguments
  return (
    argument?.type === 'LogicalExpression' &&
    argument.left.type === 'Identifier' &&
    argument.right.type === 'AssignmentExpression' &&
    argument.right.left.type === 'Identifier' &&
    argument.right.left.name === argument.left.name
  )
}

function isDecoration(node: acorn.Expression): boolean {
  if (node.type !== 'CallExpression' || node.callee.type !== 'MemberExpression') return false
  const { object, property } = node.callee
  return (
    object.type === 'Identifier' &&
    object.name === 'babelHelpers' &&
    property.type === 'Identifier' &&
    property.name === 'decorate'
  )
}
