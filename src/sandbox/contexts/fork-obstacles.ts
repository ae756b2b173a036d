/** Why a code context cannot be forked now. The harness and pid 1 answer with numbers; the texts are here. */
import { constants } from 'node:os'

import { LazaretError } from '../../core/errors/errors.ts'

const { EBUSY, E2BIG, EOPNOTSUPP } = constants.errno

/** Reasons by exit code of src/runtimes/python/guest_fork.py. */
const byExitCode: Readonly<Record<number, string>> = {
  2: 'Its code has threads, of which fork(2) copies none.',
  3: 'Programs that its code has started still run, and each can be the child of only one context.',
  4: 'Asynchronous tasks of its code are pending, and would continue in both contexts.',
  5: 'Its interpreter lacks a module that forks need (`_ctypes`, `fcntl`, `_socket`), or its code has replaced it.',
  6: 'A call of a host function has not been answered.',
}

/** Reasons by errno of the failed step. */
const byErrno: Readonly<Record<number, string>> = {
  [EBUSY]: 'A library of its code has threads that fork(2) would not copy.',
  [E2BIG]:
    'It is a fork of a fork, too many levels deep: the kernel allows no more than 16 nested Landlock domains.',
  [EOPNOTSUPP]:
    'The kernel cannot isolate two forks from each other: that needs the scopes of Landlock (Linux 6.12).',
}

const otherwise = 'It sent an unexpected answer.'

export const forkRefused = (detail: string) => new LazaretError('FORK_REFUSED', { detail })
export const refusedByGuest = (exitCode: number | undefined) =>
  forkRefused((exitCode !== undefined && byExitCode[exitCode]) || otherwise)
export const refusedByStep = (errno: number) => forkRefused(byErrno[errno] ?? otherwise)

export const interpreterHasEnded = 'Its interpreter has ended. The next code starts a fresh one.'

/** V8 and libuv have threads from the start. */
export const nodeCannotFork =
  'Node has several threads, and fork(2) copies only one; only contexts of Python can be forked.'
