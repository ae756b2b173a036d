/** The C headers of the guests' Node, if its installation has them. Addons are compiled against them. */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'

import type { Bind } from '../../jail/plan/shape.ts'

/** The folder that contains `include/node`. node-gyp calls it `nodedir`. */
export const headersFolder = '/opt/lazaret'

/** Empty if there is no Node, or if its headers are missing. */
export function showHeaders(node: string | null): Bind[] {
  if (node === null) return []
  const host = join(dirname(dirname(node)), 'include/node')
  if (!existsSync(join(host, 'node_api.h'))) return []
  return [{ host, guest: `${headersFolder}/include/node` }]
}
