/**
 * The two kinds of bad news that are thrown (the third, a guest that misbehaves, is a value: `result.outcome`).
 * One table; every door looks its status and exit code up here and maps nothing itself.
 */
interface ErrorRow {
  readonly kind: 'refusal' | 'fault'
  readonly message: string
  readonly hint: string
  readonly httpStatus: number
  readonly exitCode: number
  readonly retryable: boolean
}

const table = {
  INVALID_REQUEST: {
    kind: 'refusal',
    message: 'The request is not valid.',
    hint: 'See the field named in the message.',
    httpStatus: 400,
    exitCode: 64,
    retryable: false,
  },
  INPUT_TOO_LARGE: {
    kind: 'refusal',
    message: 'The request is larger than its limits allow.',
    hint: 'Send less, or raise the limit named in the message.',
    httpStatus: 413,
    exitCode: 64,
    retryable: false,
  },
  NOT_ADMITTED: {
    kind: 'refusal',
    message: 'The operator does not let this begin.',
    hint: 'Ask whoever runs this service; the message may say more.',
    httpStatus: 403,
    exitCode: 65,
    retryable: false,
  },
  LIMIT_UNENFORCEABLE: {
    kind: 'refusal',
    message: 'Nothing on this machine can enforce a limit that the run needs.',
    hint: 'Run `lazaret doctor` for the fix, or name the limit in `allowUnenforced`.',
    httpStatus: 503,
    exitCode: 69,
    retryable: false,
  },
  RUNTIME_UNAVAILABLE: {
    kind: 'refusal',
    message: 'The runtime is not available on this machine.',
    hint: 'Run `lazaret doctor` to see which toolchains were found.',
    httpStatus: 503,
    exitCode: 69,
    retryable: false,
  },
  JAIL_UNAVAILABLE: {
    kind: 'fault',
    message: 'This machine cannot build the wall that the run needs.',
    hint: 'Run `lazaret doctor` for the missing layer and its fix.',
    httpStatus: 503,
    exitCode: 69,
    retryable: false,
  },
  CELL_FAILED: {
    kind: 'fault',
    message: 'The cell could not be built.',
    hint: 'The step and the errno in the message say what the kernel refused; `lazaret doctor` explains it.',
    httpStatus: 500,
    exitCode: 70,
    retryable: true,
  },
  WORKER_LOST: {
    kind: 'fault',
    message: 'The cell ended before the run did, and the run was not the reason.',
    hint: 'Try again; if it comes back, run `lazaret doctor`.',
    httpStatus: 500,
    exitCode: 70,
    retryable: true,
  },
  QUEUE_FULL: {
    kind: 'refusal',
    message: 'Too many runs wait for their turn.',
    hint: 'Try again later, or ask for fewer at one time.',
    httpStatus: 503,
    exitCode: 75,
    retryable: true,
  },
  SANDBOX_GONE: {
    kind: 'refusal',
    message: 'The sandbox is gone.',
    hint: 'It was destroyed, or ended after standing idle; create another.',
    httpStatus: 410,
    exitCode: 69,
    retryable: false,
  },
  SESSION_GONE: {
    kind: 'refusal',
    message: 'There is no such session.',
    hint: 'Create it with createSession(); a deleted one does not come back.',
    httpStatus: 404,
    exitCode: 64,
    retryable: false,
  },
  SESSION_TERMINATED: {
    kind: 'refusal',
    message: 'The shell of the session was killed.',
    hint: 'The next command finds the session fresh, as it was created.',
    httpStatus: 409,
    exitCode: 70,
    retryable: true,
  },
  PROCESS_ENDED: {
    kind: 'refusal',
    message: 'The process ended before what was waited for.',
    hint: 'What it printed is in getLogs().',
    httpStatus: 409,
    exitCode: 70,
    retryable: false,
  },
  WAIT_TIMED_OUT: {
    kind: 'refusal',
    message: 'What was waited for did not happen in time.',
    hint: 'Wait longer with `timeout`; what the process printed is in getLogs().',
    httpStatus: 408,
    exitCode: 75,
    retryable: true,
  },
  SECRETS_UNPROTECTED: {
    kind: 'refusal',
    message:
      'Nothing on this machine can keep the variables of this command from other processes of the sandbox.',
    hint: 'Run `lazaret doctor` for the fix, or accept it with `allowDegradedSecrets`.',
    httpStatus: 503,
    exitCode: 69,
    retryable: false,
  },
  FILE_NOT_FOUND: {
    kind: 'refusal',
    message: 'There is no such file or folder in the sandbox.',
    hint: 'Check the path; a relative one begins in /workspace.',
    httpStatus: 404,
    exitCode: 65,
    retryable: false,
  },
  FILE_EXISTS: {
    kind: 'refusal',
    message: 'Something of that name is in the sandbox already.',
    hint: 'Choose another name, or delete it first.',
    httpStatus: 409,
    exitCode: 65,
    retryable: false,
  },
  NOT_A_FILE: {
    kind: 'refusal',
    message: 'What stands there is no regular file.',
    hint: 'Folders, pipes, sockets and devices are neither read nor written; `listFiles` and `stat` say what it is.',
    httpStatus: 409,
    exitCode: 65,
    retryable: false,
  },
  NOT_A_FOLDER: {
    kind: 'refusal',
    message: 'A file stands where a folder is needed.',
    hint: 'Check the path with `stat`.',
    httpStatus: 409,
    exitCode: 65,
    retryable: false,
  },
  FOLDER_NOT_EMPTY: {
    kind: 'refusal',
    message: 'The folder is not empty.',
    hint: 'Delete what is in it, with `recursive`, or choose another name.',
    httpStatus: 409,
    exitCode: 65,
    retryable: false,
  },
  FILE_REFUSED: {
    kind: 'refusal',
    message: 'The sandbox refuses this to its own programs, and so to file operations.',
    hint: 'The reason stands in the message; what is writable is /workspace and /tmp.',
    httpStatus: 403,
    exitCode: 65,
    retryable: false,
  },
  FILE_TOO_LARGE: {
    kind: 'refusal',
    message: 'There is more than the caller wants to receive.',
    hint: 'Raise `bytesMax` or `entriesMax`, or take it in parts with `readFileStream`.',
    httpStatus: 413,
    exitCode: 65,
    retryable: false,
  },
  DISK_FULL: {
    kind: 'refusal',
    message: 'There is no room left in the sandbox.',
    hint: 'Delete something, or give the sandbox a higher `diskBytes`.',
    httpStatus: 413,
    exitCode: 65,
    retryable: false,
  },
  ARCHIVE_REFUSED: {
    kind: 'refusal',
    message: 'The archive holds something that is not unpacked.',
    hint: 'The entry stands in the message; make the archive without it. Some of what came before it may be unpacked.',
    httpStatus: 422,
    exitCode: 65,
    retryable: false,
  },
  FILES_LOST: {
    kind: 'fault',
    message: 'A file operation ended without an answer.',
    hint: 'Memory may have been short, or the sandbox ended; try again.',
    httpStatus: 500,
    exitCode: 70,
    retryable: true,
  },
  END_FAILED: {
    kind: 'fault',
    message: 'Something could not be ended, and parts of it may still be there.',
    hint: 'Remove the cause named in the message and end it again; the next start sweeps what a dead host left behind.',
    httpStatus: 500,
    exitCode: 70,
    retryable: true,
  },
  INTERNAL: {
    kind: 'fault',
    message: 'Something went wrong that Lazaret does not expect.',
    hint: 'Please report it, with the message.',
    httpStatus: 500,
    exitCode: 70,
    retryable: false,
  },
  DISPOSED: {
    kind: 'refusal',
    message: 'This Lazaret was disposed.',
    hint: 'Create a new one with createLazaret().',
    httpStatus: 503,
    exitCode: 70,
    retryable: false,
  },
} as const satisfies Record<string, ErrorRow>

export type ErrorCode = keyof typeof table

/** Every code, for tests and documentation. */
export const errorTable: Readonly<Record<ErrorCode, ErrorRow>> = table

export interface LazaretErrorDetails {
  /** What exactly happened, and to what. Appended to the table's message. */
  readonly detail?: string
  /** Overrides the table's hint where a better one is known. */
  readonly hint?: string
  readonly cause?: unknown
}

/** Thrown when a run was refused or when we failed. A guest that misbehaves never throws. */
export class LazaretError extends Error {
  override readonly name = 'LazaretError'
  readonly code: ErrorCode
  readonly kind: 'refusal' | 'fault'
  /** What to do next. */
  readonly hint: string
  readonly retryable: boolean
  readonly httpStatus: number
  readonly exitCode: number

  constructor(code: ErrorCode, { detail, hint, cause }: LazaretErrorDetails = {}) {
    const row = table[code]
    super(
      detail === undefined ? row.message : `${row.message} ${detail}`,
      cause === undefined ? {} : { cause },
    )
    this.code = code
    this.kind = row.kind
    this.hint = hint ?? row.hint
    this.retryable = row.retryable
    this.httpStatus = row.httpStatus
    this.exitCode = row.exitCode
  }

  /** The shape that every door shows: no stack, no cause. */
  toJSON(): {
    code: ErrorCode
    kind: 'refusal' | 'fault'
    message: string
    hint: string
    retryable: boolean
  } {
    return {
      code: this.code,
      kind: this.kind,
      message: this.message,
      hint: this.hint,
      retryable: this.retryable,
    }
  }
}
