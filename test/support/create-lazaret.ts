/** A Lazaret for tests, which run at every level: it explicitly accepts the weaker levels that the default refuses. */
import { createLazaret as create } from '../../src/index.ts'
import type { Lazaret, LazaretOptions } from '../../src/index.ts'

export function createLazaret(options: LazaretOptions = {}): Lazaret {
  return create({ minimumProtection: 'restricted', ...options })
}
