/** The native part of isolated-vm, loaded without the package around it: the cell shows this file and nothing else of it. */
import type * as isolatedVm from 'isolated-vm'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'

export type Engine = typeof isolatedVm

/** Built for one version of Node and one C library each. */
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
