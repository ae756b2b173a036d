/** Loads the native part of isolated-vm directly, because the cell shows only this part of the package. */
import type * as isolatedVm from 'isolated-vm'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'

export type Engine = typeof isolatedVm

/** The package has a build for each combination of Node version and C library. */
export function loadEngine(folder: string): Engine {
  const names = ['glibc', 'musl'].map((libc) => `isolated-vm.abi${process.versions.modules}.${libc}.node`)
  const report = process.report.getReport() as { readonly header: { readonly glibcVersionRuntime?: string } }
  const [glibc = '', musl = ''] = names.map((name) => join(folder, name))
  const path = report.header.glibcVersionRuntime === undefined ? musl : glibc
  if (!existsSync(path))
    throw new Error(
      `isolated-vm has no build for Node ${process.versions.node} (ABI ${process.versions.modules})`,
    )
  return (createRequire(import.meta.url)(path) as { readonly ivm: Engine }).ivm
}
