/** The Bun that npm installs with the package, which bundles what runs inside. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')

export function findBun(): string | undefined {
  return ['x64', 'aarch64']
    .map((cpu) => join(root, `node_modules/@oven/bun-linux-${cpu}/bin/bun`))
    .find((path) => existsSync(path))
}
