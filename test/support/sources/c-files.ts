/**
 * The launcher's files as a graph. `mounts.c` and `mounts.h` are one node. Whoever calls a function needs its declaration,
 * or the compiler refuses; where each function is declared in the header of its own file alone, includes say who calls whom.
 */
import type { Graph } from './cycles.ts'

export interface CFile {
  /** Below the folder that includes start from. */
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

/** Functions and variables that other files can name: those at the start of a line that are not static. */
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

/** What a file says that some file defines. */
export function declarationsIn({ text }: CFile): string[] {
  const plain = withoutBodies(text)
  const functions = [...plain.matchAll(/^(?!static\b|typedef\b)\w[\w *]*?\b(\w+)\([^;{}]*\);/gm)]
  const variables = [...plain.matchAll(/^extern [^;(]*?\b(\w+)(?:\[\w+\])*;/gm)]
  return [...functions, ...variables].map(([, name = '']) => name)
}

/** What is indented or a comment is no declaration of the file's; the formatter of the launcher's files keeps it so. */
function withoutBodies(text: string): string {
  return text
    .replaceAll(/\/\*[\s\S]*?\*\//g, '')
    .split('\n')
    .filter((line) => !/^[\s#]/.test(line))
    .join('\n')
}
