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
  const paths = Object.keys(files)
  const entries = 1 + paths.length + surveyPaths(paths).folders
  const entriesMax = inodesMax(limits.diskBytes)
  if (entries <= entriesMax) return
  throw new LazaretError('INPUT_TOO_LARGE', {
    detail: `files: ${entries} files and folders; diskBytes, ${limits.diskBytes}, has room for ${entriesMax}.`,
  })
}

/** In how many folders these files are, and one of them that is also a folder of another. Reads each path once. */
export function surveyPaths(paths: readonly string[]): {
  readonly folders: number
  readonly fileInFile: string | undefined
} {
  let [folders, before] = [0, '']
  let fileInFile: string | undefined
  /** Earlier paths with which this one begins. */
  const beginnings: string[] = []
  for (const path of paths.toSorted()) {
    const same = lengthInCommon(before, path)
    while ((beginnings.at(-1)?.length ?? 0) > same) beginnings.pop()
    fileInFile ??= beginnings.find(({ length }) => path[length] === '/')
    // The folders that it shares with the path before it are already counted.
    for (let at = path.indexOf('/', same); at !== -1; at = path.indexOf('/', at + 1)) folders++
    beginnings.push(path)
    before = path
  }
  return { folders, fileInFile }
}

function lengthInCommon(one: string, other: string): number {
  const most = Math.min(one.length, other.length)
  let at = 0
  while (at < most && one.charCodeAt(at) === other.charCodeAt(at)) at++
  return at
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
