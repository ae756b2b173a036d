/** A Lazaret for tests, which run at every level: the weaker walls that the default refuses are accepted by name. */
import { createLazaret as create } from '../../src/index.ts'
import type { Lazaret, LazaretOptions } from '../../src/index.ts'

export function createLazaret(options: LazaretOptions = {}): Lazaret {
  return create({ minimumProtection: 'restricted', ...options })
}
