/** Our package at another place, as it is installed: for what must not happen to this one, and what lies around it. */
import { cpSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'

import { checkoutRoot } from './checkout.ts'

/** The path of its command. Its packages are links to those of the checkout, all but those that are `without`. */
export function copyProgram(folder: string, without: (name: string) => boolean = () => false): string {
  for (const name of ['dist', 'package.json', 'native/bin'])
    cpSync(join(checkoutRoot, name), join(folder, name), { recursive: true })
  mkdirSync(join(folder, 'node_modules'))
  for (const name of ['acorn', 'commander', 'modern-tar', 'oxc-transform', 'quickjs-wasi', 'zod'])
    if (!without(name))
      symlinkSync(join(checkoutRoot, 'node_modules', name), join(folder, 'node_modules', name))
  return join(folder, 'dist', 'adapters', 'cli', 'main.js')
}
