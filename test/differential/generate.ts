/**
 * Programs at random, of small parts: each shows something of the language, or of what a request can bring. A seed
 * determines them, and a program is made smaller by leaving parts out.
 */
import type { RunRequest } from '../../src/core/request.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { programOf } from './corpus.ts'
import { javascriptEnds, javascriptParts } from './parts/javascript.ts'
import { pythonEnds, pythonParts } from './parts/python.ts'
import { shellEnds, shellParts } from './parts/shell.ts'
import type { Engine, Program } from './program.ts'

/** A piece of a program, and what it needs of the request. */
export interface Part {
  readonly code: string
  readonly request?: Pick<RunRequest, 'stdin' | 'args' | 'env' | 'files' | 'input' | 'collect'>
  /** It uses what only Lazaret has, or what it shows depends on where it runs. */
  readonly isPlain?: false
  readonly isTypeScript?: true
  /** The engines that have it. Default: all of the language. */
  readonly engines?: readonly Engine[]
}

export type MakePart = (draw: Draw) => Part

/** What a part is made of. */
export class Draw {
  readonly #random: () => number
  #ids = 0

  constructor(seed: number) {
    this.#random = seededRandom(seed)
  }

  whole(below: number): number {
    return Math.floor(this.#random() * below)
  }

  pick<T>(list: readonly [T, ...T[]]): T {
    return list[this.whole(list.length)] ?? list[0]
  }

  /** A name that no other part has. */
  id(): string {
    return `n${this.#ids++}`
  }

  text(): string {
    return this.pick(texts)
  }

  fileName(): string {
    return `${this.pick(['data', 'ünïcödé', 'with space', "it's", '日本語', '-dash', 'a#b', 'x%41', '$HOME'])}${this.id()}`
  }
}

const texts = [
  'plain',
  '',
  'two\nlines',
  'tab\tand\0nul',
  'é😀日本語',
  '"double" \'single\' `back`',
  '\\n is no newline',
  '%s %d {} ${x} $(id)',
  '</script><!-- -->',
  'x'.repeat(300),
  '\u2028\u2029\u200b\ufeff',
  '\x1b[31mred\x1b[0m\x07',
  'a\r\nb\rc',
] as const

const makers: Readonly<
  Record<Engine, { readonly parts: readonly MakePart[]; readonly ends: readonly MakePart[] }>
> = {
  python: { parts: pythonParts, ends: pythonEnds },
  bun: { parts: javascriptParts, ends: javascriptEnds },
  node: { parts: javascriptParts, ends: javascriptEnds },
  shell: { parts: shellParts, ends: shellEnds },
}

/** The parts of one program. */
export function drawParts(engine: Engine, seed: number, index: number): readonly Part[] {
  const draw = new Draw(seed * 100_003 + index)
  const { parts, ends } = makers[engine]
  const fits = ({ engines = [engine] }: Part): boolean => engines.includes(engine)
  // Each maker has its turn, so that a thousand programs have tried all of them.
  const first = parts[index % parts.length]
  const more = Array.from({ length: draw.whole(3) }, () => draw.pick(parts as [MakePart]))
  const end = index % 3 === 0 ? [] : [ends[Math.floor(index / 3) % ends.length]]
  const made = [first, ...more, ...end].filter((one) => one !== undefined).map((make) => make(draw))
  return made.filter((part, at) => fits(part) && !made.slice(0, at).some((other) => clashes(part, other)))
}

/** Only one part can have the standard input, the arguments or the input. */
function clashes({ request: one = {} }: Part, { request: other = {} }: Part): boolean {
  return (['stdin', 'args', 'input'] as const).some((name) => name in one && name in other)
}

export function assemble(engine: Engine, name: string, parts: readonly Part[]): Program {
  const requests = parts.map(({ request = {} }) => request)
  const files = Object.assign({}, ...requests.map((one) => one.files)) as NonNullable<RunRequest['files']>
  const env = Object.assign({}, ...requests.map((one) => one.env)) as NonNullable<RunRequest['env']>
  const collect = requests.flatMap((one) => one.collect ?? [])
  return programOf(
    engine,
    name,
    {
      ...(Object.assign({}, ...requests) as Part['request']),
      code: parts.map(({ code }) => code).join('\n'),
      ...(Object.keys(files).length > 0 && { files }),
      ...(Object.keys(env).length > 0 && { env }),
      ...(collect.length > 0 && { collect }),
      ...(parts.some(({ isTypeScript }) => isTypeScript) && { language: 'typescript' as const }),
    },
    parts.every(({ isPlain, request = {} }) => isPlain !== false && !('input' in request)),
  )
}

export function generate(engine: Engine, seed: number, count: number): Program[] {
  return Array.from({ length: count }, (_, index) =>
    assemble(engine, `generated: ${seed}/${index}`, drawParts(engine, seed, index)),
  )
}

/** The parts of a generated program by its name; undefined if it is from elsewhere. */
export function partsNamed(engine: Engine, name: string): readonly Part[] | undefined {
  const [, seed, index] = /^generated: (\d+)\/(\d+)$/.exec(name) ?? []
  return seed === undefined ? undefined : drawParts(engine, Number(seed), Number(index))
}

export function generateNamed(engine: Engine, name: string): Program | undefined {
  const parts = partsNamed(engine, name)
  return parts && assemble(engine, name, parts)
}
