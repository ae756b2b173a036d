/** What the frames of a cell report: facts once it is built, faults, usage, and its end. */
import { LazaretError } from '../../core/errors/errors.ts'
import type { CellUsage } from './guest-process.ts'

/** The stub's report when everything in the cell has ended. */
export interface GoneReport {
  /** Processor time of everything that ran in the cell, its own pid 1 included. */
  readonly cpuMs: number
  readonly residentPeakBytes: number
}

/** A step that failed: of the plan while the cell was built, or of starting a guest. */
export interface StepFailure {
  /** Index of the plan's record, or null if the cell was already built. */
  readonly record: number | null
  readonly errno: number
  readonly step: string
}

export function decodeUsage(payload: Buffer): CellUsage {
  return {
    cpuMs: Number(payload.readBigUInt64LE(0)) / 1000,
    memoryPeakBytes: Number(payload.readBigUInt64LE(8)),
  }
}

export function parseFacts(text: string): Record<string, string> {
  const facts: Record<string, string> = {}
  for (const line of text.split('\n')) {
    const end = line.indexOf('=')
    if (end >= 0) facts[line.slice(0, end)] = line.slice(end + 1)
  }
  return facts
}

export function decodeFault(payload: Buffer): StepFailure {
  const record = payload.readUInt32LE(0)
  return {
    record: record === 0xffff_ffff ? null : record,
    errno: payload.readUInt32LE(4),
    step: payload.toString('utf8', 8),
  }
}

export function decodeGone(payload: Buffer): GoneReport {
  const microseconds = Number(payload.readBigUInt64LE(4) + payload.readBigUInt64LE(12))
  return { cpuMs: microseconds / 1000, residentPeakBytes: Number(payload.readBigUInt64LE(20)) * 1024 }
}

export function isStepFailure(error: unknown): error is StepFailure {
  return typeof error === 'object' && error !== null && 'step' in error
}

/** Created only on failure, because recording a stack takes too long for every cell that ends normally. */
export function cellFailed(detail: string, cause?: unknown): LazaretError {
  return new LazaretError('CELL_FAILED', { detail, cause })
}
