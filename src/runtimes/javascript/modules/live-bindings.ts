/**
 * Imports are live bindings, not copies: if a module assigns a new value to an export, its importers see it. So each
 * reference to an imported name is rewritten to read a getter of an object that has one for each name.
 */
import type * as acorn from 'acorn'
import type { Edits } from './edits.ts'
import { findReferences, type Reference } from './references.ts'

export interface LiveNames {
  /** The variable that holds the object of getters. */
  readonly live: string
  /** The function that every `catch` calls with the caught value. */
  readonly caught: string
}

/** Declares the object, usually as a class. `reads` maps each name to the code that reads it from its module. */
export function declareLive(reads: ReadonlyMap<string, string>, { live }: LiveNames): string {
  const getters = [...reads].map(([name, read]) => `get ${name}(){return ${read}}`)
  // A class cannot have a static member of this name.
  if (reads.has('prototype')) return `const ${live}={${getters.join()}};`
  // V8 calls the getters of a class as fast as it reads a constant, and those of an object fifteen times slower.
  return `class ${live}{${getters.map((getter) => `static ${getter}`).join('')}}`
}

/** Inserts the object before each use of a name. */
export function readLive(program: acorn.Program, names: ReadonlySet<string>, rewrite: LiveRewrite): void {
  const { edits, names: own } = rewrite
  const { references, statementStarts, catches } = findReferences(program, names)
  for (const reference of references) {
    const { start, end } = reference.node
    if (!isCalled(reference)) {
      edits.insert(start, `${isShorthand(reference) ? `${reference.node.name}:` : ''}${own.live}.`)
      continue
    }
    // `(0,object.name)` keeps the object from becoming `this` of the call. A statement must not begin with a parenthesis,
    // because that could make a call of the previous line.
    edits.insert(start, `${statementStarts.has(start) ? '0,' : ''}(0,${own.live}.`)
    edits.insert(end, ')')
  }
  // Engines quote code in error messages. `caught` restores the guest's own code there.
  for (const { param, body } of catches)
    if (param?.type === 'Identifier') edits.insert(body.start + 1, `${own.caught}(${param.name});`)
}

export interface LiveRewrite {
  readonly edits: Edits
  readonly names: LiveNames
}

const isCalled = ({ parent, key }: Reference): boolean =>
  (parent?.type === 'CallExpression' && key === 'callee') || key === 'tag'

const isShorthand = ({ parent, key }: Reference): boolean =>
  parent?.type === 'Property' && parent.shorthand && key === 'value'
