/** Checks the size of a request before anything is allocated for it. */
import { LazaretError } from '../../core/errors/errors.ts'
import type { Limits } from '../../core/limits.ts'
import type { RunSpec } from '../../core/request.ts'
import { inodesMax, onDisk } from '../../jail/limits/disk.ts'

/** Arguments and variables cross in one frame of 1 MiB; this leaves room for the variables that every guest gets. */
const stringBytesMax = 896 * 1024

/** Throws INPUT_TOO_LARGE. The value of `input` is bounded where it is encoded. */
export function checkSizes(spec: RunSpec, limits: Limits): void {
  const { code, stdin = '', files = {}, args = [], env = {} } = spec
  const sizes = Object.values(files).map((content) => Buffer.byteLength(content))
  const strings = [...args, ...Object.entries(env).flat()]
  refuseAbove('code', Buffer.byteLength(code), { name: 'codeBytes', most: limits.codeBytes })
  refuseAbove('stdin and files', Buffer.byteLength(stdin) + sum(sizes), {
    name: 'inputBytes',
    most: limits.inputBytes,
  })
  refuseAbove('files (in whole pages)', sum(sizes.map(onDisk)), { name: 'diskBytes', most: limits.diskBytes })
  refuseAbove('args and env', sum(strings.map((text) => Buffer.byteLength(text))), {
    name: 'the maximum',
    most: stringBytesMax,
  })
  const entries = 1 + Object.keys(files).length + new Set(Object.keys(files).flatMap(listFolders)).size
  const entriesMax = inodesMax(limits.diskBytes)
  if (entries <= entriesMax) return
  throw new LazaretError('INPUT_TOO_LARGE', {
    detail: `files: ${entries} files and folders; diskBytes, ${limits.diskBytes}, has room for ${entriesMax}.`,
  })
}

/** `a/b/c` is in `a` and `a/b`. */
export function listFolders(path: string): string[] {
  const parts = path.split('/')
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('/'))
}

function refuseAbove(
  what: string,
  given: number,
  { name, most }: { readonly name: string; readonly most: number },
): void {
  if (given <= most) return
  throw new LazaretError('INPUT_TOO_LARGE', { detail: `${what}: ${given} bytes; ${name} is ${most}.` })
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
