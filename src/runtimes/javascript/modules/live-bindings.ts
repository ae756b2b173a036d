/**
 * Imports are views of what a module exports, not copies: what the module assigns, its importers see. So each reference
 * to an imported name reads it again, from an object that has a getter for each name.
 */
import type * as acorn from 'acorn'
import type { Edits } from './edits.ts'
import { findReferences, type Reference } from './references.ts'

export interface LiveNames {
  /** The variable that holds the object of getters. */
  readonly live: string
  /** The function that is called with what a `catch` caught. */
  readonly caught: string
}

/** A declaration of the object, as a rule a class; `reads` says, for each name, the code that reads it from its module. */
export function declareLive(reads: ReadonlyMap<string, string>, { live }: LiveNames): string {
  const getters = [...reads].map(([name, read]) => `get ${name}(){return ${read}}`)
  // The one name that a class cannot have for itself.
  if (reads.has('prototype')) return `const ${live}={${getters.join()}};`
  // V8 calls the getters of a class as fast as it reads a constant, and those of an object fifteen times slower.
  return `class ${live}{${getters.map((getter) => `static ${getter}`).join('')}}`
}

/** Puts the object before each use of a name. */
export function readLive(program: acorn.Program, names: ReadonlySet<string>, rewrite: LiveRewrite): void {
  const { edits, names: own } = rewrite
  const { references, statementStarts, catches } = findReferences(program, names)
  for (const reference of references) {
    const { start, end } = reference.node
    if (!isCalled(reference)) {
      edits.insert(start, `${isShorthand(reference) ? `${reference.node.name}:` : ''}${own.live}.`)
      continue
    }
    // As a method it would get the object as its `this`. A statement must not begin with a parenthesis, which could
    // call the end of the line before.
    edits.insert(start, `${statementStarts.has(start) ? '0,' : ''}(0,${own.live}.`)
    edits.insert(end, ')')
  }
  // Engines quote code in their messages; the guest shall read its own there.
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
