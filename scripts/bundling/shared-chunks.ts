/**
 * Assigns a chunk to each module that more than one entry needs. By default the bundler makes one for each set of entries, and a
 * command would load fifty files of a few lines. Here entries have an order: a module is in the chunk of the first entry that
 * needs it, so each entry loads at most one chunk for each entry before it.
 */
import type { ChunkingContext, CodeSplittingGroup } from 'rolldown'

/** `roots` are in order; the smallest entries, and those that must not load others' code, come first. */
export function shareChunks(
  entries: readonly string[],
  roots: readonly (readonly [name: string, entry: string])[],
): CodeSplittingGroup[] {
  let chunks: ReadonlyMap<string, string> | undefined
  // A group includes the imports of its modules, unless a group of higher priority has them.
  return roots.map(([name], index) => ({
    name: (id, context) => {
      chunks ??= assign(entries, roots, context)
      return chunks.get(id) === name ? name : null
    },
    priority: roots.length - index,
  }))
}

function assign(
  entries: readonly string[],
  roots: readonly (readonly [name: string, entry: string])[],
  context: ChunkingContext,
): ReadonlyMap<string, string> {
  const users = new Map<string, number>()
  for (const entry of allEntries(entries, context))
    for (const id of reach(entry, context)) users.set(id, (users.get(id) ?? 0) + 1)
  const chunks = new Map<string, string>()
  for (const [name, entry] of roots)
    for (const id of reach(entry, context))
      if ((users.get(id) ?? 0) > 1 && !chunks.has(id)) chunks.set(id, name)
  return chunks
}

/** Includes modules that are imported on demand. */
function allEntries(entries: readonly string[], context: ChunkingContext): Set<string> {
  const all = new Set(entries)
  for (const entry of all)
    for (const id of reach(entry, context))
      for (const late of context.getModuleInfo(id)?.dynamicallyImportedIds ?? []) all.add(late)
  return all
}

/** The module itself, and everything that is loaded with it. */
function reach(entry: string, context: ChunkingContext): Set<string> {
  const reached = new Set([entry])
  for (const id of reached)
    for (const imported of context.getModuleInfo(id)?.importedIds ?? []) reached.add(imported)
  return reached
}
