/** Remarks that a person would otherwise miss, about a run or a command: one line each, or none. */
import { type MissingFiles, sayMissing } from '../../../core/missing-files.ts'
import { describeRefusals } from '../../../core/network.ts'
import type { RunResult } from '../../../core/result.ts'
import { failedWithoutNetwork, mayHaveNeededPort } from '../../../result/lack-of-network.ts'
import type { Ended } from '../../../result/lack-of-network.ts'
import type { ExecResult } from '../../../sandbox/types.ts'
import { toSingleLine } from './terminal-text.ts'

/** Files are not among them: `describeMissing` says why each is missing. */
export function describeTruncated(truncated: readonly string[]): string[] {
  const cut = truncated.filter((part) => part !== 'files')
  return cut.length === 0 ? [] : [`cut short at its limit: ${cut.join(', ')}.`]
}

export function describeMissing(missing: readonly MissingFiles[]): string[] {
  return missing.map((files) => `not collected: ${sayMissing(files)}`)
}

export function describeClamped(clamped: readonly string[]): string[] {
  return clamped.length === 0 ? [] : [`lowered to the configured ceiling: ${clamped.join(', ')}.`]
}

/** Limits that a command reached and survived, except that of its output, which `truncated` names. */
export function describeTouched(touched: ExecResult['touched']): string[] {
  const named = touched.filter(({ limit }) => limit !== 'outputBytes')
  if (named.length === 0) return []
  return [`reached its limit: ${named.map(({ limit, allowed }) => `${limit} (${allowed})`).join(', ')}.`]
}

/** That there is no network, or what a policy refused, and which option would have allowed it. */
export function describeNetwork(ended: Ended): string[] {
  const { network } = ended.receipt
  if (failedWithoutNetwork(ended)) return ['it has no network; --allow <host> lets it reach a host.']
  if (network === undefined) return []
  const refused = describeRefusals(network)
  if (refused === undefined && mayHaveNeededPort(ended))
    return ['the network policy refuses ports that no rule names; --allow <host>:<port> names one.']
  if (refused === undefined) return []
  const options = network.wouldAllow.map((rule) => `--allow ${rule}`)
  return [
    toSingleLine(refused),
    ...(options.length === 0 ? [] : [toSingleLine(`to allow this: ${options.join(' ')}`)]),
  ]
}

/** A pattern with a typo matches nothing, and is still valid. */
export function describeUnmatched(
  collect: readonly string[] | undefined,
  { files, folders, missingFiles }: Pick<RunResult, 'files' | 'folders' | 'missingFiles'>,
): string[] {
  if (collect === undefined || Object.keys(files).length + folders.length + missingFiles.length > 0) return []
  return [`nothing matched --collect ${toSingleLine(collect.join(', '))}.`]
}
