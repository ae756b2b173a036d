/** How a run ends, in one table: the text and the exit code that every adapter uses. */
/** An error of the guest's program. Guest text: bounded, untrusted. */
export interface GuestError {
  readonly name: string
  readonly message: string
  readonly stack?: string
  /** 1-based line in the code of the request. */
  readonly line?: number
  /** 1-based column in the code of the request. */
  readonly column?: number
}

/** How a run ended. Decided from evidence that the guest cannot forge. */
export type Outcome =
  | { readonly kind: 'completed'; readonly exitCode: number }
  | { readonly kind: 'failed'; readonly error: GuestError; readonly exitCode: number }
  | { readonly kind: 'syntax-error'; readonly error: GuestError }
  | { readonly kind: 'timed-out'; readonly limit: 'wall' | 'cpu'; readonly limitMs: number }
  | { readonly kind: 'out-of-memory'; readonly limitBytes: number }
  | {
      readonly kind: 'limit-exceeded'
      readonly limit: 'output' | 'processes' | 'files' | 'disk' | 'host'
      readonly allowed: number
    }
  /**
   * Something that policy forbids. The realm around an isolate refuses it and reports it; the program does not run in
   * that realm. Other runtimes have no such evidence: a call that seccomp ends with SIGSYS looks to the parent like a
   * SIGSYS that the guest sent to itself, and is `killed`.
   */
  | { readonly kind: 'denied'; readonly what: string }
  | { readonly kind: 'killed'; readonly signal: string }
  | { readonly kind: 'cancelled' }

type OutcomeOf<Kind> = Extract<Outcome, { readonly kind: Kind }>

interface OutcomeRow<One> {
  /** The exit code of the `lazaret` command that ran the program. */
  readonly exitCode: (outcome: One) => number
  /** What happened, for adapters without their own text for it. */
  readonly says: (outcome: One) => string
  /** What the author of the program can do about it. */
  readonly advice?: (outcome: One) => string
}

const KiB = 1024
const MiB = 1024 * KiB

const limitAdvice: Readonly<Record<OutcomeOf<'limit-exceeded'>['limit'], string>> = {
  output: 'Print less, or write to a file.',
  processes: 'Start fewer processes and threads at one time.',
  files: 'Keep fewer files open at one time, in all processes together.',
  disk: 'Write less, or delete files that are no longer needed.',
  host: 'Send the host fewer and smaller messages.',
}

function sayAllowed(limit: OutcomeOf<'limit-exceeded'>['limit'], allowed: number): string {
  if (limit === 'host') return `${allowed}ms`
  return limit === 'output' || limit === 'disk' ? saySize(allowed) : String(allowed)
}

/** Exact, in the largest unit that leaves a whole number. */
function saySize(bytes: number): string {
  if (bytes > 0 && bytes % MiB === 0) return `${bytes / MiB} MiB`
  return bytes > 0 && bytes % KiB === 0 ? `${bytes / KiB} KiB` : `${bytes} bytes`
}

/** Refusals and faults have their codes in the table of errors. */
const rows: { readonly [Kind in Outcome['kind']]: OutcomeRow<OutcomeOf<Kind>> } = {
  completed: {
    exitCode: ({ exitCode }) => exitCode,
    says: ({ exitCode }) => `ended with exit code ${exitCode}`,
  },
  failed: {
    // A failure never gets exit code 0, whatever exit code the guest's process had.
    exitCode: ({ exitCode }) => (exitCode === 0 ? 1 : exitCode),
    says: () => 'ended by an error',
  },
  'syntax-error': { exitCode: () => 65, says: () => 'is not valid code' },
  'timed-out': {
    exitCode: () => 124,
    says: ({ limit, limitMs }) =>
      limit === 'wall' ? `timed out after ${limitMs}ms` : `used more than ${limitMs}ms of processor time`,
    advice: () => 'Do less work at a time, or ask for a longer timeout.',
  },
  'out-of-memory': {
    exitCode: () => 137,
    says: ({ limitBytes }) => `used more than ${Math.floor(limitBytes / MiB)} MiB of memory`,
    advice: () => 'Work on smaller pieces, or ask for more memory.',
  },
  'limit-exceeded': {
    exitCode: () => 125,
    says: ({ limit, allowed }) => `went over the limit on ${limit}, which is ${sayAllowed(limit, allowed)}`,
    advice: ({ limit }) => limitAdvice[limit],
  },
  denied: { exitCode: () => 125, says: ({ what }) => `was denied: ${what}` },
  killed: {
    exitCode: ({ signal }) => 128 + signalNumber(signal),
    says: ({ signal }) => `ended by the signal ${signal}`,
  },
  cancelled: { exitCode: () => 130, says: () => 'was cancelled' },
}

function rowOf(outcome: Outcome): OutcomeRow<Outcome> {
  return rows[outcome.kind] as OutcomeRow<Outcome>
}

export function exitCodeOf(outcome: Outcome): number {
  return rowOf(outcome).exitCode(outcome)
}

export function sayOutcome(outcome: Outcome): string {
  return rowOf(outcome).says(outcome)
}

/** Advice for the author of the program, where there is any. */
export function adviseOn(outcome: Outcome): string | undefined {
  return rowOf(outcome).advice?.(outcome)
}

/** Real-time signals have no name in Node and arrive with their number. */
function signalNumber(signal: string): number {
  // Imported on demand, because the rest of this file also runs in browsers.
  const { constants } = process.getBuiltinModule('node:os')
  const known = Object.entries(constants.signals).find(([name]) => name === signal)
  return known?.[1] ?? Number(/\d+$/.exec(signal)?.[0] ?? 0)
}
