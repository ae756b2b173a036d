/** Loads the packages of the harness, wherever they are in this view of files. */
import { createRequire } from 'node:module'

import type * as acorn from 'acorn'

import { harnessPath, packageToRequire } from './harness-path.ts'

export function requirePackage(name: string): unknown {
  return createRequire(harnessPath)(packageToRequire(name))
}

export function requireAcorn(): typeof acorn {
  return requirePackage('acorn') as typeof acorn
}
