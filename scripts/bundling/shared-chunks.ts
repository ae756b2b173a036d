/**
 * Which chunk a module is in that more than one entry needs. By itself the bundler makes one for each set of entries, and a
 * command would load fifty files of a few lines. Here entries have an order: a module is in the chunk of the first one that
 * needs it, so each entry loads at most one chunk for each entry before it, and none that needs more than they do.
 */
import type { ChunkingContext, CodeSplittingGroup } from 'rolldown'

/** `roots` are in order; the smallest and those that must stay free of others come first. */
export function shareChunks(
  entries: readonly string[],
  roots: readonly (readonly [name: string, entry: string])[],
): CodeSplittingGroup[] {
  let chunks: ReadonlyMap<string, string> | undefined
  // A group takes what its modules import along, unless one of higher priority has it.
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

/** With the modules that are imported when they are needed. */
function allEntries(entries: readonly string[], context: ChunkingContext): Set<string> {
  const all = new Set(entries)
  for (const entry of all)
    for (const id of reach(entry, context))
      for (const late of context.getModuleInfo(id)?.dynamicallyImportedIds ?? []) all.add(late)
  return all
}

/** What is loaded with a module, and the module itself. */
function reach(entry: string, context: ChunkingContext): Set<string> {
  const reached = new Set([entry])
  for (const id of reached)
    for (const imported of context.getModuleInfo(id)?.importedIds ?? []) reached.add(imported)
  return reached
}
