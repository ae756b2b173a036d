/** The headers of the Node that guests get, where its package has them: addons are compiled against them. */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'

import type { Bind } from '../../jail/plan/shape.ts'

/** What node-gyp calls `nodedir`: the folder that `include/node` lies in. */
export const headersFolder = '/opt/lazaret'

/** Nothing if there is no Node, or if its headers are missing. */
export function showHeaders(node: string | null): Bind[] {
  if (node === null) return []
  const host = join(dirname(dirname(node)), 'include/node')
  if (!existsSync(join(host, 'node_api.h'))) return []
  return [{ host, guest: `${headersFolder}/include/node` }]
}
