/**
 * How a worker learns which part of the harness to load first. Unlike `--import`, it works for code in a string too.
 */
export const preloadFlag = '--require'

/**
 * The folder of this harness. Not from `import.meta`, where a bundler writes the path at build time. Read before the
 * guest's program gets its own argv.
 */
export const harnessPath: string = takePreload() ?? process.argv[1] ?? ''

/**
 * The folders of the harness's packages, as `name=folder`, if guests see the host's own files. Bun finds a package by
 * listing folders, but there it may list only the package itself.
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
