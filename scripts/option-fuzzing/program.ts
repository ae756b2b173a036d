/**
 * The fuzzer's programs: system calls for a few processes, in a text format that is readable, generated and kept in the corpus.
 *
 *     process repeats=300 wall=400 threads=1
 *     s = socket 2 1 0
 *     setsockopt $s 1 7 [00 00 10 00] 4
 *
 * A word is a number, `$name` (what an earlier call returned), `@name` or `@name:3` (data of the library, or the fourth
 * number in it), `"text"`, `[hexadecimal bytes]`, or `m0x1000` (a place in two MiB of memory).
 * Rounds after the first start at `again`; `copies=4` makes four such processes.
 */
import { findData } from './data.ts'

export interface Call {
  readonly label?: string
  readonly name: string
  readonly words: readonly string[]
}

export interface CallProcess {
  readonly repeats: number
  readonly wallMs: number
  readonly threads: number
  readonly calls: readonly Call[]
}

export type Program = readonly CallProcess[]

interface OpenProcess extends CallProcess {
  readonly calls: Call[]
}

/**
 * Two words that are not system calls, see calls.c: `add @data 8 2` adds 2 to the number at offset 8, so that rounds can
 * differ; and rounds after the first start at `again`.
 */
const ownNumbers: Readonly<Record<string, number>> = { add: 65_534, again: 65_533 }
const unknownNumber = 65_535
const defaults = { repeats: 1, wall: 400, threads: 1, copies: 1 }

export function parseProgram(text: string): Program {
  const processes: OpenProcess[] = []
  let alike: readonly OpenProcess[] = []
  for (const line of text.split('\n').map((one) => one.trim())) {
    if (line === '' || line.startsWith('#')) continue
    const [first = '', ...rest] = line.match(/"[^"]*"|\[[^\]]*\]|\S+/g) ?? []
    if (first === 'process') {
      const named = Object.fromEntries(rest.map((part) => part.split('=')).map(([k, v]) => [k, Number(v)]))
      const { repeats, wall: wallMs, threads, copies } = { ...defaults, ...named }
      alike = Array.from({ length: copies }, () => ({ repeats, wallMs, threads, calls: [] }))
      processes.push(...alike)
      continue
    }
    if (alike.length === 0) throw new Error(`There is no process before: ${line}`)
    const [equals, name = '', ...words] = rest
    const call = equals === '=' ? { label: first, name, words } : { name: first, words: rest }
    for (const { calls } of alike) calls.push(call)
  }
  return processes
}

export function printProgram(program: Program): string {
  const groups: { text: readonly string[]; copies: number; process: CallProcess }[] = []
  for (const process of program) {
    const text = process.calls.map(printCall)
    const last = groups.at(-1)
    if (last !== undefined && isAlike(last.process, process) && last.text.join() === text.join())
      last.copies++
    else groups.push({ text, copies: 1, process })
  }
  return groups
    .flatMap(({ text, copies, process: { repeats, wallMs, threads } }) => [
      `process repeats=${repeats} wall=${wallMs} threads=${threads} copies=${copies}`,
      ...text,
    ])
    .join('\n')
}

function isAlike(one: CallProcess, other: CallProcess): boolean {
  return one.repeats === other.repeats && one.wallMs === other.wallMs && one.threads === other.threads
}

export function printCall({ label, name, words }: Call): string {
  return `${label === undefined ? '' : `${label} = `}${name} ${words.join(' ')}`.trim()
}

/** The format that calls.c reads. Calls that this machine's headers do not have get a number that no kernel has. */
export function encodeProgram(program: Program, numbers: ReadonlyMap<string, number>): string {
  const library = new Library()
  const processes = program.map(({ repeats, wallMs, threads, calls }) => {
    const results = new Map(calls.flatMap(({ label }, at) => (label === undefined ? [] : [[label, at]])))
    const lines = calls.map(({ name, words }) => {
      const number = numberOf(name, numbers)
      return `C ${number} ${words.map((word) => library.encode(word, results)).join(' ')}`
    })
    return [`P ${repeats} ${wallMs} ${threads}`, ...lines].join('\n')
  })
  return [...library.lines, ...processes, ''].join('\n')
}

export function isOwn(name: string): boolean {
  return name in ownNumbers
}

function numberOf(name: string, numbers: ReadonlyMap<string, number>): number {
  if (name.startsWith('#')) return Number(name.slice(1))
  return ownNumbers[name] ?? numbers.get(name) ?? unknownNumber
}

/** The data that a program's words name, each once, in the order of their numbers in calls.c. */
class Library {
  readonly lines: string[] = []
  readonly #places = new Map<string, number>()

  encode(word: string, results: ReadonlyMap<string, number>): string {
    if (word.startsWith('$')) {
      const result = results.get(word.slice(1))
      // It names the result of a removed call.
      return result === undefined ? '-1' : `r${result}`
    }
    const [, name = word, part] = /^(@[\w-]+)(?::(\d+))?$/.exec(word) ?? []
    if (!/^[@"[]/.test(name)) return word
    const place = this.#place(name)
    return part === undefined ? `d${place}` : `w${place}:${part}`
  }

  #place(name: string): number {
    const known = this.#places.get(name)
    if (known !== undefined) return known
    const { bytes, addresses = {} } = readBytes(name)
    const parts = Object.entries(addresses).map(([at, other]) => `+${at}=${this.#place(other)}`)
    const place = this.lines.length
    this.lines.push(['D', bytes.toString('hex'), ...parts].join(' '))
    this.#places.set(name, place)
    return place
  }
}

function readBytes(name: string) {
  if (name.startsWith('"')) return { bytes: Buffer.from(`${name.slice(1, -1)}\0`) }
  if (name.startsWith('[')) return { bytes: Buffer.from(name.replace(/[^0-9a-f]/gi, ''), 'hex') }
  return findData(name.slice(1))
}
