/** The failure of a file service task as an error for the caller. */
import { getSystemErrorName } from 'node:util'

import { LazaretError } from '../../core/errors/errors.ts'
import type { ErrorCode } from '../../core/errors/errors.ts'
import type { FileExit } from './file-process.ts'
import { describePath } from '../../core/shown-path.ts'

/** Any other errno means that the kernel refused. */
const codes: Readonly<Record<string, ErrorCode>> = {
  ENOENT: 'FILE_NOT_FOUND',
  EEXIST: 'FILE_EXISTS',
  ENOTDIR: 'NOT_A_FOLDER',
  EISDIR: 'NOT_A_FILE',
  ENXIO: 'NOT_A_FILE', // a socket, or a pipe that nobody reads
  ENOTEMPTY: 'FOLDER_NOT_EMPTY',
  ENOSPC: 'DISK_FULL',
  EDQUOT: 'DISK_FULL',
  EFBIG: 'DISK_FULL', // longer than all of the sandbox's files may be together
}

/** Steps whose name says more than the errno. */
const steps: Readonly<Record<string, { readonly code: ErrorCode; readonly why: string }>> = {
  'fit EFBIG': { code: 'FILE_TOO_LARGE', why: 'is longer than `bytesMax`' },
  'count E2BIG': { code: 'FILE_TOO_LARGE', why: 'is one entry more than `entriesMax`' },
  'depth EOVERFLOW': { code: 'FILE_REFUSED', why: 'is more than 64 folders deep' },
  'open EINVAL': { code: 'NOT_A_FILE', why: 'is a pipe or a device' },
  'rename EXDEV': { code: 'FILE_REFUSED', why: 'goes to another file system: use `moveFile`' },
  'remove EBUSY': { code: 'FILE_REFUSED', why: 'is the workspace itself, or something is mounted there' },
}

/** Hints that know the task, by task and code. */
const hints: Readonly<Record<string, string>> = {
  'write FILE_NOT_FOUND': 'Create its folder first, or write with `createParents: true`.',
  'mkdir FILE_NOT_FOUND': 'Create the folder above it first, or use `recursive: true`.',
  'delete NOT_A_FILE': 'It is a folder. Delete it, and everything in it, with `recursive: true`.',
}

/** The first argument is what the caller named; the task may name something below it. */
export function fileErrorOf(
  { exitCode, stderr }: FileExit,
  { task, args: [path = ''] }: { readonly task: string; readonly args: readonly string[] },
): LazaretError {
  const [, number, step = '', named = ''] = /^(\d+) (\w+) ([^]*)$/.exec(stderr) ?? []
  if (exitCode !== 1 || number === undefined) {
    return new LazaretError('FILES_LOST', { detail: `${describePath(path)}: exit code ${exitCode}.` })
  }
  const errno = nameErrno(Number(number))
  const known = steps[`${step} ${errno}`]
  const code = known?.code ?? codes[errno] ?? 'FILE_REFUSED'
  const why = known?.why ?? `failed at "${step}" with ${errno}`
  const hint = hints[`${task} ${code}`]
  const detail = `${describePath(named === '' ? path : named)} ${why}.`
  return new LazaretError(code, { detail, ...(hint === undefined ? {} : { hint }) })
}

function nameErrno(errno: number): string {
  return errno > 0 && errno < 4096 ? getSystemErrorName(-errno) : 'an unknown error'
}
