/** What tests run on: this Node, or the oldest supported one. */
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

export function oldestHost(): TestHost {
  return { ...thisHost, node: oldestNode() }
}
