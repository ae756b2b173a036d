/**
 * How a worker learns which part of the harness to load first. Unlike `--import`, it works for code in a string too.
 */
export const preloadFlag = '--require'

/**
 * Where this harness lies. Not `import.meta`: a bundler writes the path at build time there. Read before the guest's
 * program gets its own argv.
 */
export const harnessPath: string = takePreload() ?? process.argv[1] ?? ''

/**
 * Where packages of the harness lie, as `name=folder`, in a view of files that is the host's own: Bun finds a package by
 * listing folders, and there may list only the package itself.
 */
const packageFolders = new Map(process.argv.slice(2).map((pair) => pair.split('=', 2) as [string, string]))

/** What to `require` for a package of the harness. */
export function packageToRequire(name: string): string {
  return packageFolders.get(name) ?? name
}

/** In a worker, whose first flag is ours; it is hidden from the guest. */
function takePreload(): string | undefined {
  const [flag, path, ...rest] = process.execArgv
  if (flag !== preloadFlag) return undefined
  process.execArgv = rest
  return path
}
