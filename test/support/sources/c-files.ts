/**
 * The launcher's files as a graph. `mounts.c` and `mounts.h` are one node. The compiler requires a declaration of each
 * function that is called. If each function is declared only in the header of its own file, the includes show which
 * file calls which.
 */
import type { Graph } from './cycles.ts'

export interface CFile {
  /** Relative to the folder that includes start from. */
  readonly path: string
  readonly text: string
}

export function nodeOf(path: string): string {
  return path.replace(/\.[ch]$/, '')
}

export function includeGraph(files: readonly CFile[]): Graph {
  const graph = new Map<string, string[]>()
  for (const { path, text } of files) {
    const node = nodeOf(path)
    const included = [...text.matchAll(/^#include "([^"]+)"/gm)].map(([, name = '']) => nodeOf(name))
    graph.set(node, [...(graph.get(node) ?? []), ...included.filter((target) => target !== node)])
  }
  return graph
}

/** Functions and variables with external linkage: those at the start of a line that are not static. */
export function definitionsIn({ text }: CFile): string[] {
  const functions = [
    ...withoutBodies(text).matchAll(/^(?!static\b|extern\b)\w[\w *]*?\b(\w+)\([^;{}]*\) \{/gm),
  ]
  const variables = [
    ...withoutBodies(text).matchAll(
      /^(?!static\b|extern\b|typedef\b|return\b)\w[\w *]*?\b(\w+)(?:\[\w+\])*(?: =|;)/gm,
    ),
  ]
  return [...functions, ...variables].map(([, name = '']) => name)
}

/** The declarations in a file of what some file defines. */
export function declarationsIn({ text }: CFile): string[] {
  const plain = withoutBodies(text)
  const functions = [...plain.matchAll(/^(?!static\b|typedef\b)\w[\w *]*?\b(\w+)\([^;{}]*\);/gm)]
  const variables = [...plain.matchAll(/^extern [^;(]*?\b(\w+)(?:\[\w+\])*;/gm)]
  return [...functions, ...variables].map(([, name = '']) => name)
}

/**
 * Removes indented lines and comments, which contain no declarations of the file. The formatter guarantees that layout.
 */
function withoutBodies(text: string): string {
  return text
    .replaceAll(/\/\*[\s\S]*?\*\//g, '')
    .split('\n')
    .filter((line) => !/^[\s#]/.test(line))
    .join('\n')
}
