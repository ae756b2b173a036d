/** A result as text for a language model: compact, cut with care, and each fact once. Pure. */
import { LazaretError } from '../core/errors/errors.ts'
import { adviseOnMissing, sayMissing } from '../core/missing-files.ts'
import { describeRefusals } from '../core/network.ts'
import type { NetworkReport } from '../core/network.ts'
import { adviseOn, sayOutcome } from '../core/outcome.ts'
import type { GuestError } from '../core/outcome.ts'
import type { MimeBundle } from '../core/output.ts'
import type { RunData, ToTextOptions } from '../core/result.ts'
import { clipEnd, clipText } from './clip-text.ts'
import { findImage } from './images.ts'
import { isPrinted } from './is-printed.ts'
import { failedWithoutNetwork, mayHaveNeededPort } from './lack-of-network.ts'

const charsDefault = 30_000
const charsLeast = 1000
/** More than the labels, the gap marks and the last line take together. */
const wordsMax = 400
/** The share for how the program ended, and again for what the network policy refused. */
const endShare = 0.1
/** How the rest is divided if every part is too long. What one part does not need goes to the others. */
const shares = { stdout: 0.47, stderr: 0.2, value: 0.2, display: 0.13 } as const
type Part = keyof typeof shares

export interface TextData extends RunData {
  /** What else the caller has to know, in Lazaret's words. */
  readonly note?: string | undefined
}

/** Throws INVALID_REQUEST. */
export function charsOf({ charsMax = charsDefault }: ToTextOptions): number {
  if (Number.isSafeInteger(charsMax) && charsMax >= charsLeast) return charsMax
  throw new LazaretError('INVALID_REQUEST', {
    detail: `charsMax must be a whole number of at least ${charsLeast}.`,
  })
}

/** Throws INVALID_REQUEST. */
export function toText(result: TextData, options: ToTextOptions = {}): string {
  const charsMax = charsOf(options)
  const texts = result.displays.filter((bundle) => findImage(bundle) === undefined).map(describeDisplay)
  const pictures = result.displays.length - texts.length
  const value = textOfValue(result)
  const short = (text = '') => clipEnd(text, Math.floor(charsMax * endShare))
  const { note = '', receipt } = result
  const { network } = receipt
  const end = short(describeEnd(result))
  const refusals = short(network === undefined ? adviseOnNoNetwork(result) : adviseOnPolicy(result, network))
  const missing = short(describeMissing(result))
  const parts: Record<Part, string> = {
    stdout: result.stdout.trimEnd(),
    stderr: result.stderr.trimEnd(),
    value,
    // A table that is the value of a program is displayed as well, with the same text.
    display: texts
      .filter((text) => text.trimEnd() !== value)
      .join('\n')
      .trimEnd(),
  }
  const room = divide(
    parts,
    charsMax - wordsMax - end.length - refusals.length - note.length - missing.length,
  )
  const lines = (Object.keys(shares) as Part[]).flatMap((name) => {
    if (parts[name].trim() === '') return []
    const { text } = clipText(parts[name], room[name])
    return [`${name}:${text.includes('\n') ? '\n' : ' '}${text}`]
  })
  if (end !== '') lines.push(end)
  // Some model APIs refuse an empty text.
  if (lines.length === 0) lines.push(describePictures(pictures))
  if (note !== '') lines.push(note)
  // Also for a program that succeeded: it may have caught the error and printed one that asks to try again.
  if (refusals !== '') lines.push(refusals)
  if (isModuleMissing(result)) lines.push(aboutModules)
  const cut = [describeTruncated(result), missing].filter((text) => text !== '')
  if (cut.length > 0) lines.push(cut.join(' '))
  return lines.join('\n\n')
}

/** For whoever sets up the program's surroundings, which the program itself may not be able to change. */
const aboutModules =
  'Python modules come from an environment, from `packages`, with `toolchains.python`, or from pip in a sandbox whose network policy allows it.'

function isModuleMissing({ outcome }: RunData): boolean {
  return outcome.kind === 'failed' && outcome.error.name === 'ModuleNotFoundError'
}

/** In JavaScript, a program that only prints has the value `undefined`, which says nothing. */
function textOfValue({ value, valueText = '' }: RunData): string {
  return value === undefined && valueText === 'undefined' ? '' : valueText.trimEnd()
}

function describeTruncated({ truncated: parts, outcome }: RunData): string {
  if (parts.length === 0) return ''
  // The caller stopped the program; its parts need not be smaller.
  if (outcome.kind === 'cancelled') return `Incomplete: ${parts.join(', ')}.`
  const advice = [
    ...(parts.some((part) => part !== 'files' && part !== 'value') ? ['Print less to see all of it.'] : []),
    ...(parts.includes('value') ? ['Make the value smaller to get all of it.'] : []),
  ]
  return [`Incomplete: ${parts.join(', ')}.`, ...advice].join(' ')
}

function describeMissing({ missingFiles: missing, outcome }: RunData): string {
  return outcome.kind === 'cancelled'
    ? ''
    : [...missing.map(sayMissing), ...adviseOnMissing(missing)].join(' ')
}

/** How long each part may be. Parts that are shorter than their share leave the rest to those that are longer. */
function divide(parts: Record<Part, string>, charsMax: number): Record<Part, number> {
  const room: Record<Part, number> = { stdout: 0, stderr: 0, value: 0, display: 0 }
  let open = Object.keys(shares) as Part[]
  let left = charsMax
  for (;;) {
    const sum = open.reduce((total, name) => total + shares[name], 0)
    const shareOf = (name: Part) => Math.floor((left * shares[name]) / sum)
    const short = open.filter((name) => parts[name].length <= shareOf(name))
    if (short.length === 0) {
      for (const name of open) room[name] = shareOf(name)
      return room
    }
    for (const name of short) {
      room[name] = parts[name].length
      left -= room[name]
    }
    open = open.filter((name) => !short.includes(name))
    if (open.length === 0) return room
  }
}

const readableTypes = ['text/markdown', 'text/plain', 'application/json', 'text/html'] as const

/** A display without a readable format is replaced by the list of its types. */
function describeDisplay(bundle: MimeBundle): string {
  const type = readableTypes.find((name) => Object.hasOwn(bundle, name))
  return type === undefined ? `[${Object.keys(bundle).join(', ')}]` : (bundle[type] ?? '')
}

/** For a program with nothing else to show. */
function describePictures(count: number): string {
  if (count === 0) return 'The program succeeded and printed nothing.'
  return `The program displayed ${count} ${count === 1 ? 'picture' : 'pictures'}.`
}

/** Undefined if the program succeeded. */
function describeEnd({ outcome, stderr }: RunData): string | undefined {
  if (outcome.kind === 'completed' && outcome.exitCode === 0) return undefined
  if (outcome.kind === 'failed' || outcome.kind === 'syntax-error')
    return `${outcome.kind}: ${describeError(outcome.error, stderr)}`
  const advice = adviseOn(outcome)
  return `The program ${sayOutcome(outcome)}.${advice === undefined ? '' : ` ${advice}`}`
}

/** Messages of runtimes without a network advise to try again, which would not help. */
function adviseOnNoNetwork(result: RunData): string | undefined {
  if (!failedWithoutNetwork(result)) return undefined
  return "The program has no network (`network: 'none'`), so it can reach no other machine."
}

/** Empty if the policy has refused nothing. */
function adviseOnPolicy(result: RunData, network: NetworkReport): string | undefined {
  const refused = describeRefusals(network)
  if (refused !== undefined || !mayHaveNeededPort(result)) return refused
  return 'The network policy refuses connections to ports that none of its rules names. A rule without a port names 80 and 443.'
}

function describeError({ name, message, line, stack = '' }: GuestError, stderr: string): string {
  const said = message === '' ? name : `${name}: ${message}`
  const where = line === undefined ? '' : ` (line ${line})`
  // Most runtimes print the error. Once is enough.
  if (isPrinted(said, stderr)) return `see stderr${where}`
  const trace = stack.trim()
  return trace === '' || isPrinted(said, trace) || line !== undefined ? said + where : `${said}\n${trace}`
}
