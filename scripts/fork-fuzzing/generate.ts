/** A random program for a fork, and its one right answer. Seed and number determine it. */
import type { Language, Outcome, RunRequest } from '../../src/index.ts'
import { seededRandom } from '../../test/support/seeded-random.ts'
import { javascriptParts, pythonHead, pythonParts } from './parts.ts'

export const engines = ['node', 'bun', 'python'] as const
export type ForkEngine = (typeof engines)[number]

export interface ForkCase {
  readonly request: RunRequest
  /** The code without what only makes it large. */
  readonly program: string
  readonly outcome: Outcome
  readonly value: unknown
}

/** The kind of fork. A zygote serves one kind only, so successive programs share it. */
interface ForkKind {
  readonly runtime: ForkEngine
  readonly language: Language
  readonly preload: readonly string[]
}

/** Between two seeds, so that neighbouring numbers do not share programs. */
const stride = 0x9e3779b1
const casesPerKind = 40
const partsMax = 3
const pauseMsMax = 8
/** Below the default of `codeBytes`. */
const codeBytesMax = 900_000
const inputBytesMax = 1_500_000
/** Most runs are small. */
const largeShare = 0.05
/** Longer than any of these runs takes on a slow machine. One that hangs waits for as long. */
const wallMs = 60_000

/** Packages in fork-packages.ts. They leave the heap of a zygote in different states, and have started threads. */
const preloads = {
  javascript: [[], [], ['heap-1'], ['heap-2'], ['heap-3'], ['started-threads']],
  python: [[], [], ['asyncio', 'multiprocessing', 'concurrent.futures'], ['ended_threads']],
} as const

type Random = () => number
const pick = <T>(random: Random, from: readonly T[]): T => from[Math.floor(random() * from.length)] as T
const upTo = (random: Random, max: number): number => 1 + Math.floor(random() * max)

function kindOf(runtime: ForkEngine, seed: number, index: number): ForkKind {
  const random = seededRandom(Math.imul(seed, stride) - Math.floor(index / casesPerKind) - 1)
  if (runtime === 'python') return { runtime, language: 'python', preload: pick(random, preloads.python) }
  const language = random() < 0.2 ? 'typescript' : 'javascript'
  return { runtime, language, preload: pick(random, preloads.javascript) }
}

export function generateCase(runtime: ForkEngine, seed: number, index: number): ForkCase {
  const random = seededRandom(Math.imul(seed, stride) + index)
  const { language, preload } = kindOf(runtime, seed, index)
  const isPython = language === 'python'
  const chosen = Array.from({ length: upTo(random, partsMax) }, () => {
    const { expression, value } = pick(random, isPython ? pythonParts : javascriptParts)
    const size = upTo(random, 100)
    return { expression: expression.replaceAll('$', String(size)), value: value(size) }
  })
  const pauses = chosen.map(() => random() * pauseMsMax)
  const end = pick(random, ends)
  const write = isPython ? writePython : writeJavaScript
  const body = chosen.map(({ expression }, at) => write(expression, pauses[at] ?? 0, random() < 0.5))
  const head = isPython
    ? `${pythonHead}values = []`
    : `const values${language === 'typescript' ? ': number[]' : ''} = []`
  const last = isPython ? end.python : end.javascript
  const program = [head, ...(isPython ? body : keepAwake(body, random)), last].join('\n')
  const code = `${pad(random, isPython)}\n${program}`
  const sum = chosen.reduce((total, { value }) => total + value, 0)
  const request = {
    runtime,
    language,
    preload,
    code,
    input: makeInput(random),
    limits: { wallMs, processesMax: 64 },
  }
  return { request, program, outcome: end.outcome, value: end.hasValue ? sum : undefined }
}

/**
 * Some calls do not keep the event loop alive. An interval does, and keeps the loop asleep, as in a server. So a wakeup that
 * is lost makes the run hang.
 */
const keepAwake = (body: readonly string[], random: Random): readonly string[] =>
  random() < 0.5 || body.some((line) => line.includes('waitAsync'))
    ? [`const awake = setInterval(() => {}, ${wallMs})`, ...body, 'clearInterval(awake)']
    : body

/** The pause lets the threads return before, during or after the part. */
const writeJavaScript = (expression: string, pauseMs: number, isBusy: boolean): string =>
  isBusy
    ? `for (const from = performance.now(); performance.now() - from < ${pauseMs}; );\nvalues.push(${expression})`
    : `await new Promise((done) => setTimeout(done, ${pauseMs}))\nvalues.push(${expression})`

const writePython = (expression: string, pauseMs: number, isBusy: boolean): string =>
  isBusy
    ? `_end = time.monotonic() + ${pauseMs / 1000}\nwhile time.monotonic() < _end: pass\nvalues.append(${expression})`
    : `time.sleep(${pauseMs / 1000})\nvalues.append(${expression})`

interface End {
  readonly javascript: string
  readonly python: string
  readonly hasValue: boolean
  readonly outcome: Outcome
}

const valued: End = {
  javascript: 'values.reduce((a, b) => a + b, 0)',
  python: 'sum(values)',
  hasValue: true,
  outcome: { kind: 'completed', exitCode: 0 },
}
const ends: readonly End[] = [
  ...Array.from({ length: 12 }, () => valued),
  // With a timer or a thread that has something left to do.
  {
    ...valued,
    javascript: `setTimeout(() => {}, 5)\n${valued.javascript}`,
    python: `threading.Timer(0.005, int).start()\n${valued.python}`,
  },
  {
    javascript: 'process.exit(3)',
    python: 'sys.exit(3)',
    hasValue: false,
    outcome: { kind: 'completed', exitCode: 3 },
  },
  {
    javascript: 'setTimeout(() => process.exit(4), 3)\n0',
    python: 'sys.stdout.flush()\nos._exit(4)',
    hasValue: false,
    outcome: { kind: 'completed', exitCode: 4 },
  },
]

/** Code before the program: comments, strings with characters beyond Latin-1, or functions. */
function pad(random: Random, isPython: boolean): string {
  const bytes = sizeOf(random, codeBytesMax)
  const kind = pick(random, ['comments', 'wide', 'functions'])
  const line = (index: number): string => {
    if (kind === 'comments') return `${isPython ? '#' : '//'} ${'x'.repeat(90)}`
    if (kind === 'wide')
      return `${isPython ? '' : 'const '}text${index} = 'Größe ${index} → “${'x'.repeat(60)}”'`
    return isPython
      ? `def check${index}(value, least=${index}): return {'kind': 'string', 'ok': len(value) > least}`
      : `function check${index}(value, least = ${index}) { return { kind: 'string', ok: value.length > least } }`
  }
  return Array.from({ length: Math.floor(bytes / 110) }, (_, index) => line(index)).join('\n')
}

function makeInput(random: Random): unknown {
  const bytes = sizeOf(random, inputBytesMax)
  const kind = pick(random, ['latin', 'wide', 'objects'])
  if (kind === 'latin') return 'x'.repeat(bytes)
  if (kind === 'wide') return 'é→'.repeat(bytes / 5)
  return Array.from({ length: Math.floor(bytes / 50) }, (_, index) => ({ index, text: `é→ ${index}` }))
}

function sizeOf(random: Random, bytesMax: number): number {
  const exponent = random() < largeShare ? 1 - random() * 0.3 : random() * 0.7
  return Math.floor(bytesMax ** exponent)
}
