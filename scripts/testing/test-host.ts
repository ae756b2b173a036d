/**
 * What tests run on: this Node and this checkout, or the oldest supported Node and a copy of the checkout that it can
 * read.
 */
import { LoweredCopy } from './lowered-copy.ts'
import { oldestNode } from './oldest-node.ts'

export interface TestHost {
  readonly node: string
  /** The checkout. */
  readonly folder: string
  readonly environment: Readonly<Record<string, string>>
}

export const thisHost: TestHost = {
  node: process.execPath,
  folder: process.cwd(),
  environment: {},
}

/** One copy serves all passes. */
let copy: LoweredCopy | undefined

export function oldestHost(): TestHost {
  const node = oldestNode()
  copy ??= makeCopy()
  return {
    node,
    folder: copy.folder,
    // It reads `.ts` files only with this option.
    environment: { NODE_OPTIONS: '--experimental-strip-types --disable-warning=ExperimentalWarning' },
  }
}

function makeCopy(): LoweredCopy {
  const made = new LoweredCopy()
  process.once('exit', () => made[Symbol.dispose]())
  return made
}
