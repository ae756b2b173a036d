/** The first advice when a file is missing beside Lazaret's own: most often, a bundler has moved only the code. */
export const unbundle =
  'If your program is bundled, leave `lazaret` out of the bundle (`--external:lazaret` in esbuild).'
