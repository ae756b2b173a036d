/**
 * The flag that tells a worker which part of the harness to load first. Unlike `--import`, it also works for code in a
 * string.
 */
export const preloadFlag = '--require'

/**
 * The path of this harness. Not from `import.meta`, which a bundler replaces with the path at build time. Read before
 * the guest's program gets its own argv.
 */
export const harnessPath: string = takePreload() ?? process.argv[1] ?? ''

/**
 * The folders of the harness's packages, given as `name=folder` if guests see the host's own files. Bun searches for a
 * package by listing folders, but there it may list only the package's own folder.
 */
const packageFolders = new Map(process.argv.slice(2).map((pair) => pair.split('=', 2) as [string, string]))

/** The argument of `require` for a package of the harness. */
export function packageToRequire(name: string): string {
  return packageFolders.get(name) ?? name
}

/** In a worker, the first flag is the harness's. It is hidden from the guest. */
function takePreload(): string | undefined {
  const [flag, path, ...rest] = process.execArgv
  if (flag !== preloadFlag) return undefined
  process.execArgv = rest
  return path
}
