/** The first advice when one of Lazaret's files is missing: usually a bundler has moved only the code. */
export const unbundle =
  'If your program is bundled, leave `lazaret` out of the bundle (`--external:lazaret` in esbuild).'
