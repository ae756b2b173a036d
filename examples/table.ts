/** Prints one line for each run as it ends; on a terminal, also the one that is running. */
import { inspect } from 'node:util'
import type { Outcome, RunResult } from '../src/index.ts'

// eslint-disable-next-line no-control-regex
const controls = /[\x00-\x1f\x7f-\x9f]+/g

const widths = [28, 9, 21, 9, 11, 12] as const

export function printHeader(): void {
  printRow(['program', 'runtime', 'outcome', 'time', 'memory', 'protection'], 'result')
}

export function printResultRow(path: string, result: RunResult): void {
  const { receipt, usage, outcome } = result
  const memory = `${(usage.memoryPeakBytes / 1024 / 1024).toFixed(1)} MiB`
  printRow(
    [path, receipt.runtime, describe(outcome), `${Math.round(usage.wallMs)} ms`, memory, receipt.protection],
    whatCameOut(result),
  )
}

/** A program that has no result: skipped, refused, or lost through a fault. */
export function printNoteRow(path: string, note: string): void {
  printRow([path, '-', '-', '-', '-', '-'], note)
}

export function showProgress(path: string): void {
  if (process.stderr.isTTY) process.stderr.write(`running ${path} …`)
}

export function clearProgress(): void {
  if (process.stderr.isTTY) process.stderr.write('\r\x1b[K')
}

function printRow(cells: readonly string[], last: string): void {
  console.log([...cells.map((cell, index) => cell.padEnd(widths[index] ?? 0)), last].join(' ').trimEnd())
}

function describe(outcome: Outcome): string {
  switch (outcome.kind) {
    case 'completed':
      return outcome.exitCode === 0 ? 'completed' : `completed, exit ${outcome.exitCode}`
    case 'timed-out':
      return `timed out (${outcome.limit})`
    case 'limit-exceeded':
      return `over limit (${outcome.limit})`
    case 'killed':
      return `killed by ${outcome.signal}`
    default:
      return outcome.kind.replaceAll('-', ' ')
  }
}

/** The value, else the output, else the error: on one line, without the control characters of guest text. */
function whatCameOut({ value, stdout, stderr, outcome }: RunResult): string {
  const error = outcome.kind === 'failed' || outcome.kind === 'syntax-error' ? outcome.error.message : ''
  const text =
    value === undefined ? stdout || error || stderr : inspect(value, { breakLength: Infinity, depth: 3 })
  const line = text.slice(0, 400).trim().replace(controls, ' · ')
  const lengthMax = 110
  return line.length > lengthMax ? `${line.slice(0, lengthMax - 1)}…` : line
}
