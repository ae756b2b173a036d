/** The libraries of native/zygote, which interpreters load to become zygotes. */
import { existsSync, realpathSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

import { LazaretError } from '../../core/errors/errors.ts'

/** The library's path on the host. */
export function findZygoteLibrary(name: 'zygote' | 'javascript-zygote'): string {
  const path = fileURLToPath(new URL(`../../../native/bin/${name}-linux-${process.arch}.so`, import.meta.url))
  if (existsSync(path)) return realpathSync(path)
  throw new LazaretError('RUNTIME_UNAVAILABLE', {
    detail: `There is no zygote library for ${process.platform}-${process.arch}.`,
    hint: 'In a checkout, install a C compiler and run `npm run build:native`. Without it, workers are started one by one.',
  })
}
