/** The questions of `URL` and `URLSearchParams` to the Node process, which has a URL parser. Only strings cross. */
import { jsonString, uncurryThis } from '../../../../core/primordials.ts'
import type { Outside, UrlPart } from '../protocol.ts'

export type Pair = [name: string, value: string]
export type Parts = Readonly<Record<UrlPart, string>>

/** The limit on the length of a question. */
const questionMax = 1024 * 1024
const NativeRangeError = RangeError
const NativeTypeError = TypeError
const parse = JSON.parse as (json: string) => unknown
const toWellFormed = uncurryThis(
  (String.prototype as unknown as { toWellFormed: (this: string) => string }).toWellFormed,
)
let askOutside: Outside['url'] = () => undefined

/** Called once, before the first question. */
export function answerWith({ url }: Outside): void {
  askOutside = url
}

/** Converts text as the platform does: a lone surrogate becomes U+FFFD. */
export const textOf = (value: unknown): string => toWellFormed(`${value as string}`)

export function requireArguments(given: number, least: number): void {
  if (given < least)
    throw new NativeTypeError(`${least === 1 ? 'An argument is' : `${least} arguments are`} required`)
}

/** `undefined` for an invalid URL. */
export function askUrl(href: unknown, base?: unknown): Parts | undefined {
  const from = base === undefined ? '' : `,"base":${jsonString(textOf(base))}`
  return ask(`{"ask":"parse","href":${jsonString(textOf(href))}${from}}`) as Parts | undefined
}

export function askChanged(href: string, part: UrlPart, value: string): Parts {
  const change = `"part":"${part}","value":${jsonString(value)}`
  return ask(`{"ask":"change","href":${jsonString(href)},${change}}`) as Parts
}

export const askPairs = (query: string): Pair[] =>
  ask(`{"ask":"pairs","query":${jsonString(query)}}`) as Pair[]

export function askQuery(pairs: readonly Pair[]): string {
  let list = ''
  for (let index = 0; index < pairs.length; index++) {
    const pair = pairs[index] as Pair
    list += `${index === 0 ? '' : ','}[${jsonString(pair[0])},${jsonString(pair[1])}]`
  }
  return ask(`{"ask":"query","pairs":[${list}]}`) as string
}

function ask(question: string): unknown {
  if (question.length > questionMax) throw new NativeRangeError('The URL is too long')
  const answer = askOutside(question)
  return answer === undefined ? undefined : parse(answer)
}
