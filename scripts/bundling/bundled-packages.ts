/**
 * Packages that the bundle contains, because every caller loads them: as separate files they took a third of the processor time
 * of a short run. The published package does not depend on them.
 */
export const bundledPackages: readonly string[] = ['commander', 'zod']
