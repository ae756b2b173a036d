import { LazaretError } from '../core/errors/errors.ts'

const nodeMin = [24, 11] as const
/**
 * Hosts whose sockets, processes and threads differ from Node's. Nothing is tested on them. Under Bun, cells outlive
 * `close()`.
 */
const others = { bun: 'Bun', deno: 'Deno' } as const

/** npm only warns about a Node that is too old. */
export function requireNode(): void {
  for (const [key, name] of Object.entries(others)) {
    const version = process.versions[key]
    if (version === undefined) continue
    throw new LazaretError('RUNTIME_UNAVAILABLE', {
      detail: `Lazaret needs Node ${nodeMin.join('.')} or newer as its host, and this is ${name} ${version}.`,
      hint: 'Start this program with Node, or connect it to `lazaret serve` with lazaret/client.',
    })
  }
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  if (major > nodeMin[0] || (major === nodeMin[0] && minor >= nodeMin[1])) return
  throw new LazaretError('RUNTIME_UNAVAILABLE', {
    detail: `Lazaret needs Node ${nodeMin.join('.')} or newer, and this is ${process.versions.node}.`,
    hint: 'Install a newer Node.',
  })
}
