/** How a command ended, and which layers protected it. */
import { constants } from 'node:os'

import { perLimit } from '../../core/limits.ts'
import type { Outcome } from '../../core/outcome.ts'
import type { StartKind, Usage } from '../../core/receipt.ts'
import type { ProcessReport } from '../../jail/cell/guest-process.ts'
import type { Exit } from '../../result/exit.ts'
import type { TouchedLimit } from './touched.ts'

/** The data of its receipt. */
export interface CommandEvidence extends Pick<Exit, 'layers' | 'observed' | 'heldBy' | 'network'> {
  readonly start: StartKind
}

export interface CommandEnd {
  readonly outcome: Outcome
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
  readonly truncated: readonly ('stdout' | 'stderr')[]
  readonly touched: readonly TouchedLimit[]
  readonly usage: Usage
  /** The state that its shell wrote last: guest text, one character for each byte. */
  readonly state: string
  /** Whether it died of a signal that the host did not send. */
  readonly wasKilled: boolean
  readonly evidence: CommandEvidence
}

const timedOutCode = 124
const cancelledCode = 130

/** Cancelled before it began, so nothing protected it. */
export const cancelled: CommandEnd = {
  outcome: { kind: 'cancelled' },
  exitCode: cancelledCode,
  stdout: '',
  stderr: '',
  truncated: [],
  touched: [],
  usage: { wallMs: 0, cpuMs: 0, memoryPeakBytes: 0, queuedMs: 0, outputBytes: 0 },
  state: '',
  wasKilled: false,
  evidence: { start: 'cold', layers: [], observed: {}, heldBy: perLimit(() => 'none') },
}

/** The end of a command that was ended together with its space. */
export const unreportedEnd: ProcessReport = {
  end: { by: 'signal', signal: 'SIGKILL' },
  cpuMs: 0,
  residentPeakBytes: 0,
  watchdogPeakBytes: 0,
  droppedBytes: { stdout: 0, stderr: 0 },
  diskFull: false,
  elapsedMs: 0,
  forksRefusedToPid1: 0,
}

/** Whether the exit code is the one with which a shell reports a program that was killed. */
export function exitedAsKilled({ end }: ProcessReport): boolean {
  return end.by === 'exit' && end.exitCode === 128 + constants.signals.SIGKILL
}

export function exitCodeOf(outcome: Outcome, { end }: ProcessReport): number {
  if (outcome.kind === 'timed-out') return timedOutCode
  if (outcome.kind === 'cancelled') return cancelledCode
  if (end.by === 'exit') return end.exitCode
  return 128 + (constants.signals[end.signal as NodeJS.Signals] ?? 0)
}
