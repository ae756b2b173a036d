/** Shows a result to a person: the value on standard output, everything else on standard error. */
import { inspect } from 'node:util'
import type { Limits } from '../../../core/limits.ts'
import type { MimeBundle } from '../../../core/output.ts'
import type { RunResult } from '../../../core/result.ts'
import { paint } from './colour.ts'
import { describeOutcome } from './describe-outcome.ts'
import type { GuestOutput } from './guest-output.ts'
import { describeClamped, describeMissing, describeNetwork, describeTruncated } from './remarks.ts'
import { showWhole, toSingleLine } from './terminal-text.ts'
import { pictureTypes } from './write-outputs.ts'

export interface PrintOptions {
  /** Whether pictures are written to a folder, so that only other rich displays would be missed. */
  readonly arePicturesWritten: boolean
  /** The operator's ceilings. */
  readonly ceilings: Partial<Limits>
}

export function printResult(result: RunResult, output: GuestOutput, options: PrintOptions): void {
  output.end()
  for (const text of shownTexts(result)) {
    output.printLine('stdout', process.stdout.isTTY ? showWhole(text) : text)
  }
  for (const line of describeExtras(result, options)) output.printLine('stderr', `lazaret: ${line}`)
  const ending = describeOutcome(result.outcome, options.ceilings)
  if (ending === undefined) return
  // A guest that fails has usually printed its own traceback. It is shown here only if the guest has printed nothing.
  const stack = result.stderr === '' ? guestStack(result) : undefined
  if (stack !== undefined) output.printLine('stderr', showWhole(stack))
  output.printLine('stderr', paint('red', `lazaret: ${ending}`, process.stderr))
}

/** Displays as text, then the value as the language's own prompt prints it: `undefined` and `None` are not printed. */
export function shownTexts({ displays, value, valueText, receipt, truncated }: RunResult): string[] {
  const texts = displays.flatMap((bundle) => bundle['text/plain'] ?? [])
  // A value that was too large to cross is absent, but its text may be here.
  const isEmpty = value === undefined && !truncated.includes('value')
  const isNone = receipt.runtime === 'python' && value === null
  if (isEmpty || isNone) return texts
  // A value that offers more than text was displayed, too, when the program ended.
  return displays.some((bundle) => isRich(bundle) && bundle['text/plain'] === valueText)
    ? texts
    : [...texts, valueText ?? inspect(value)]
}

function isRich(bundle: MimeBundle): boolean {
  return Object.keys(bundle).some((type) => type !== 'text/plain')
}

/** Displays and links that this output does not show, one line for each remark. */
export function describeExtras(
  result: RunResult,
  { arePicturesWritten }: Omit<PrintOptions, 'ceilings'>,
): string[] {
  const { displays, truncated, missingFiles, receipt } = result
  const types = displays.flatMap((bundle) => Object.keys(bundle)).filter((type) => type !== 'text/plain')
  const rich = new Set(types.filter((type) => !arePicturesWritten || !pictureTypes.has(type)))
  const places = [...rich].some((type) => pictureTypes.has(type)) ? '--output-dir or --json' : '--json'
  return [
    ...(rich.size > 0
      ? [`the program displayed ${toSingleLine([...rich].join(', '))}; use ${places} to get it.`]
      : []),
    ...describeTruncated(truncated),
    ...describeMissing(missingFiles),
    ...describeClamped(receipt.clamped),
    ...describeNetwork(result),
  ]
}

function guestStack({ outcome }: RunResult): string | undefined {
  return outcome.kind === 'failed' || outcome.kind === 'syntax-error' ? outcome.error.stack : undefined
}
