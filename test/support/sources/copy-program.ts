/** A copy of the built package in a folder of its own, for tests that change the package or what surrounds it. */
import { cpSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'

import { checkoutRoot } from './checkout.ts'

/**
 * Returns the path of its command. Its dependencies are links to the checkout's, except those that `without` excludes.
 */
export function copyProgram(folder: string, without: (name: string) => boolean = () => false): string {
  for (const name of ['dist', 'package.json', 'native/bin'])
    cpSync(join(checkoutRoot, name), join(folder, name), { recursive: true })
  mkdirSync(join(folder, 'node_modules'))
  for (const name of ['acorn', 'modern-tar', 'oxc-transform', 'quickjs-wasi'])
    if (!without(name))
      symlinkSync(join(checkoutRoot, 'node_modules', name), join(folder, 'node_modules', name))
  return join(folder, 'dist', 'adapters', 'cli', 'main.js')
}
