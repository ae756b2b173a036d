/** The messages between a test and the process of its isolates, and the libraries that both know. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { IsolateOutcome, IsolateProgram } from '../../../src/runtimes/isolate/inside/protocol.ts'
import { checkoutRoot } from '../../support/sources/checkout.ts'

export const libraries = ['lodash', 'date-fns', 'mathjs', 'papaparse', 'jstat', 'uuid', 'validator']

export type Ended = (IsolateOutcome | { readonly state: 'pending' }) & { readonly logs: readonly string[] }

export interface Ask {
  readonly run: number
  readonly program: IsolateProgram
  readonly load: readonly string[]
  readonly libraries: Readonly<Record<string, string>>
  readonly timeoutMs: number
  readonly around?: string
}

export interface Answer {
  readonly call: number
  readonly isError: boolean
  readonly json: string
}

export type Told = { readonly run: number } & (
  | { readonly ended: Ended }
  | { readonly failed: string }
  | { readonly call: number; readonly name: string; readonly args: string }
)

/** Parts of the inside have names that no library can have. */
export function librarySource(name: string): string | undefined {
  if (name.startsWith('lazaret:'))
    return readFileSync(
      join(checkoutRoot, `dist/harness-isolate/${name.slice('lazaret:'.length)}.js`),
      'utf8',
    )
  const path = join(checkoutRoot, 'dist/libraries', `${name}.js`)
  return libraries.includes(name) && existsSync(path) ? readFileSync(path, 'utf8') : undefined
}
