/**
 * Records the completion value of a program that has to run as a function body, by the rules of ECMAScript: the value of
 * the last expression statement that ran; `if`, loops, `switch` and `try` start from `undefined`; declarations and
 * empty statements leave the value as it is.
 */
import type * as acorn from 'acorn'
import type { Edits } from './edits.ts'

type Statement = acorn.Program['body'][number] | acorn.Statement

/** The code, its edits so far, and the names that the edits may use because the code does not. */
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
  // No jump leaves the program, so only what comes after the last sure value can matter; busy code before it stays fast.
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
    // A semicolon is always there afterwards: without it the closing parenthesis could call or index with the next line.
    this.#edits.insert(hasSemicolon ? statement.end - 1 : statement.end, hasSemicolon ? ')' : ');')
  }

  /** A label must stay right before its loop, for `continue`. */
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
      // What the block had computed before it threw does not count.
      this.#edits.insert(handler.body.start + 1, this.#reset)
      this.#recordAll(handler.body.body)
    }
    if (finalizer) {
      // The value of `finally` counts only when it jumps out, and then this is not restored.
      const { value, saved } = this.#names
      this.#edits.insert(finalizer.start + 1, `const ${saved}=${value};${this.#reset}`)
      this.#recordAll(finalizer.body)
      this.#edits.insert(finalizer.end - 1, `;${value}=${saved};`)
    }
  }
}

/** `(function(_N) { … })(N || (N = {}))` of a TypeScript namespace, and calls of the decorator helpers. */
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
