import { LazaretError } from '../core/errors/errors.ts'

const nodeMin = [22, 12] as const

/** npm only warns about a Node that is too old. */
export function requireNode(): void {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  if (major > nodeMin[0] || (major === nodeMin[0] && minor >= nodeMin[1])) return
  throw new LazaretError('RUNTIME_UNAVAILABLE', {
    detail: `Lazaret needs Node ${nodeMin.join('.')} or newer, and this is ${process.versions.node}.`,
    hint: 'Install a newer Node.',
  })
}
