/** How a worker is told which part of the harness to load first. Unlike `--import`, it works for code in a string too. */
export const preloadFlag = '--require'

/**
 * Where this harness lies. Not `import.meta`: a bundler writes the path at build time there. Read before the guest's
 * program gets an argv of its own.
 */
export const harnessPath: string = takePreload() ?? process.argv[1] ?? ''

/** In a worker, whose first flag is ours; it is hidden from the guest. */
function takePreload(): string | undefined {
  const [flag, path, ...rest] = process.execArgv
  if (flag !== preloadFlag) return undefined
  process.execArgv = rest
  return path
}
