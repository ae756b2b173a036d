/**
 * Prints a thrown error and returns the exit code: Lazaret's refusals and faults, and mistakes in the command line.
 */
import { CommanderError } from 'commander'
import { errorTable, LazaretError } from '../../../core/errors/errors.ts'
import { paint } from './colour.ts'
import { printJson } from './print-json.ts'
import { resetOn, showWhole } from './terminal-text.ts'
import { UsageError } from '../options/usage-error.ts'

interface ErrorReport {
  readonly exitCode: number
  readonly document: {
    code: string
    kind: 'refusal' | 'fault'
    message: string
    hint: string
    retryable: boolean
  }
}

export function printError(error: unknown, { json }: { json: boolean }): number {
  // Help and version arrive as errors too, already printed.
  if (error instanceof CommanderError && error.exitCode === 0) return 0
  if (error instanceof CommanderError && error.code === 'commander.help')
    return errorTable.INVALID_REQUEST.exitCode
  const { exitCode, document } = describeError(error)
  if (json) printJson({ error: document })
  else {
    const [message, hint] = [document.message, document.hint].map(showWhole)
    // A run that failed half-way may have left a style of its guest on the terminal.
    process.stderr.write(
      `${resetOn(process.stderr)}${paint('red', `lazaret: ${message}`, process.stderr)}\n  ${hint}\n`,
    )
  }
  return exitCode
}

function describeError(thrown: unknown): ErrorReport {
  const error = firstOf(thrown)
  if (error instanceof LazaretError) return { exitCode: error.exitCode, document: error.toJSON() }
  if (error instanceof UsageError) return usage(error.message, error.hint)
  if (error instanceof CommanderError) {
    return usage(
      error.message.replace(/^error: /, '').replaceAll('\n', ' '),
      'Add --help to see the options.',
    )
  }
  return defect(error)
}

/** If the clean-up failed too, the reader needs the first error. */
function firstOf(thrown: unknown): unknown {
  let first = thrown
  // Older engines create the error but have no class `SuppressedError`.
  while (first instanceof Error && first.name === 'SuppressedError' && 'suppressed' in first)
    first = first.suppressed
  return first
}

function usage(message: string, hint: string): ErrorReport {
  const { kind, retryable, exitCode } = errorTable.INVALID_REQUEST
  return { exitCode, document: { code: 'INVALID_REQUEST', kind, message, hint, retryable } }
}

/** An unexpected error is a defect in Lazaret, so its stack belongs in the report. */
function defect(error: unknown): ErrorReport {
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error)
  const hint = 'This is a defect in Lazaret. Please report it with the text above.'
  return { exitCode: 70, document: { code: 'INTERNAL', kind: 'fault', message, hint, retryable: false } }
}
