/**
 * Where this harness lies. Not `import.meta`: a bundler writes the path at build time there. Read before the guest's
 * program gets an argv of its own.
 */
export const harnessPath: string = process.argv[1] ?? ''
