/** Why a code context cannot be forked now. The harness and pid 1 answer with numbers; the texts are here. */
import { constants } from 'node:os'

import { LazaretError } from '../../core/errors/errors.ts'

const { EBUSY, E2BIG, EOPNOTSUPP } = constants.errno

/** Reasons by exit code of src/runtimes/python/guest_fork.py. */
const byExitCode: Readonly<Record<number, string>> = {
  2: 'Its code has threads, of which fork(2) copies none.',
  3: 'Programs that its code has started still run, and can be the child of one context only.',
  4: 'Asynchronous tasks of its code are not done, and would go on in both.',
  5: 'Its interpreter lacks what a fork takes (`_ctypes`, `fcntl`, `_socket`), or its code has replaced it.',
  6: 'A call of a host function has not been answered.',
}

/** Reasons by errno of the failed step. */
const byErrno: Readonly<Record<number, string>> = {
  [EBUSY]: 'A library of its code has threads that fork(2) would not copy.',
  [E2BIG]:
    'It and those that it comes from have been forked so often that the kernel takes no further domain (16).',
  [EOPNOTSUPP]: 'The kernel cannot keep two forks apart: that takes the scopes of Landlock, Linux 6.12.',
}

const otherwise = 'It did not answer as a context does.'

export const forkRefused = (detail: string) => new LazaretError('FORK_REFUSED', { detail })
export const refusedByGuest = (exitCode: number | undefined) =>
  forkRefused((exitCode !== undefined && byExitCode[exitCode]) || otherwise)
export const refusedByStep = (errno: number) => forkRefused(byErrno[errno] ?? otherwise)

/** V8 and libuv have threads from the start. */
export const nodeCannotFork =
  'Node computes with several threads, and fork(2) copies one; only contexts of Python can be forked.'
