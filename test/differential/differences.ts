/**
 * Where a program's result depends on how it is run, and why. docs/reference/compatibility.md shows this table. Whatever
 * it does not explain is a defect, and so is a row that explains nothing.
 */
import type { Finding } from './judge.ts'
import type { Engine, Way } from './program.ts'
import type { Field } from './seen.ts'

export interface Difference {
  readonly ways: readonly Way[]
  readonly engines: readonly Engine[]
  readonly fields: readonly Field[]
  /** What differs from a cold run, for users. */
  readonly what: string
  readonly reason: string
  /** Only then. Default: always. */
  readonly when?: (finding: Finding) => boolean
  /** Both texts are the same after it. Without it, they may differ in any way. */
  readonly as?: (text: string) => string
}

const texts = ['stdout', 'stderr', 'error.message', 'error.stack', 'value', 'valueText', 'logs'] as const
const output = ['stdout', 'stderr'] as const
const process = ['stdout', 'stderr', 'exitCode', 'files'] as const
const javascript = ['bun', 'node'] as const

const codeOf = ({ program }: Finding): string => program.request.code
const says = ({ seen }: Finding, text: RegExp): boolean => text.test(String(seen.stderr))
const isSyntaxError = ({ cold }: Finding): boolean => cold.outcome === 'syntax-error'

/** What came out before the end is the same. */
const lacksItsEnd = ({ expected, got }: Finding): boolean =>
  typeof expected === 'string' &&
  typeof got === 'string' &&
  expected.startsWith(got.replaceAll('<code 1>', '<code>'))

/** The first place in the program that a text names. */
const lineIn = (text: unknown): string | undefined =>
  /(?:<code>:|<code>", line )(\d+)/.exec(String(text))?.[1]

/** The words of a text, without how objects, tables and colours are laid out. */
const wordsOf = (text: string): string =>
  text.replaceAll(/\(index\)|\(iteration index\)|[^\p{L}\p{N}]+/gu, '')

export const differences: readonly Difference[] = [
  {
    ways: ['parked', 'forked', 'http', 'context', 'mcp', 'plain'],
    engines: ['python', 'bun', 'node'],
    fields: [...texts, 'answer'],
    what: 'without `stdin`, standard input is an empty pipe; in a cold run it is `/dev/null`',
    reason:
      'A warm worker is started before its run, and gets its input later. Both are at their end at once.',
    when: ({ program }) =>
      program.request.stdin === undefined &&
      /fstat|isFIFO|st_mode|seekable|\/proc\/self\/fd/.test(program.request.code),
  },
  {
    ways: ['forked', 'http', 'context', 'mcp', 'plain'],
    engines: ['bun', 'node'],
    fields: [...texts, 'answer'],
    what: 'the number of the process, also in warnings',
    reason: 'A fork has another parent than a process that is started for its run.',
    as: (text) => text.replaceAll(/\((?:node|bun):\d+\)/g, '(node:1)'),
  },
  {
    ways: ['context'],
    engines: ['python', 'node'],
    fields: texts,
    what: 'the name of the code in tracebacks, stacks and warnings: `<code 1>`',
    reason: 'A context numbers its pieces, because an error may come from an earlier one.',
    as: (text) => text.replaceAll('<code 1>', '<code>'),
  },
  {
    ways: ['context'],
    engines: ['python'],
    fields: texts,
    what: '`HOME` is `/home/guest`',
    reason: 'A context belongs to a sandbox, which has a home beside its workspace.',
    as: (text) => text.replaceAll('/home/guest', '/workspace'),
  },
  {
    ways: ['context'],
    engines: ['python', 'node'],
    fields: output,
    what: 'what a program does at its end: `atexit`, `__del__`, tasks that are left, listeners of `exit`',
    reason: 'A piece of code ends, but its context goes on.',
    when: (finding) =>
      /atexit|__del__|create_task|async def|'exit'|"exit"/.test(codeOf(finding)) && lacksItsEnd(finding),
  },
  {
    ways: ['context'],
    engines: ['python'],
    fields: ['stdout'],
    what: 'limits, `/sys`, and variables for the interpreter',
    reason: 'They are those of a sandbox; see “In a sandbox”.',
    when: ({ program }) => /^compatibility: (?:more than|devices and|variables for)/.test(program.name),
  },
  {
    ways: ['context'],
    engines: ['node'],
    fields: ['value', 'valueText'],
    what: 'a last statement that is `undefined` is no value',
    reason: 'As in a notebook, where `console.log()` as the last line shows nothing below its output.',
    when: ({ cold, got }) => cold.valueText === 'undefined' && got === undefined,
  },
  {
    ways: ['plain'],
    engines: ['node'],
    fields: ['stderr'],
    what: 'stacks end with the frame of the program, without Node’s own and its version',
    reason: 'Frames below it say nothing about the program.',
    as: (text) =>
      text
        .replaceAll(/^ +at (?:async )?(?:[\w.<> ]+ )?\(?node:internal\/.*\n/gm, '')
        .replace(/\n*Node\.js v[\d.]+\n$/, '\n'),
  },
  {
    ways: ['plain'],
    engines: ['shell'],
    fields: output,
    what: 'the name of the program: `/tmp/code.sh`',
    reason: 'The workspace has only the files of the request.',
    as: (text) => text.replaceAll(/\/tmp\/code\.sh|<code>|\bcode\.sh|\.program\.sh/g, '<code>'),
  },
  {
    ways: ['plain'],
    engines: ['shell'],
    fields: ['stdout'],
    what: 'output of background processes after the end of the program',
    reason: 'A run ends with its main process, and then all others are killed.',
    when: (finding) =>
      / & /.test(codeOf(finding)) && String(finding.got).startsWith(String(finding.expected)),
  },
  {
    ways: ['plain'],
    engines: ['python'],
    fields: process,
    what: '`await` at the top level works',
    reason: 'As in notebooks; plain Python does not compile it.',
    when: (finding) => says(finding, /^SyntaxError: .*outside (?:function|async|of an async)/m),
  },
  {
    ways: ['plain'],
    engines: ['python', 'bun', 'node'],
    fields: ['exitCode'],
    what: 'a program that does not compile has no exit code; plain engines exit with 1',
    reason: 'Nothing of it has run: its outcome is `syntax-error`.',
    when: (finding) => isSyntaxError(finding) && finding.got === 1,
  },
  {
    ways: ['plain'],
    engines: ['python'],
    fields: ['exitCode'],
    what: 'an uncaught `KeyboardInterrupt` exits with 130; plain Python kills itself with SIGINT',
    reason: 'An outcome `killed` would hide the error.',
    when: ({ expected, seen }) => expected === 130 && seen.outcome === 'killed by SIGINT',
  },
  {
    ways: ['plain'],
    engines: ['python'],
    fields: output,
    what: 'the depth that is left until `RecursionError`: some seven calls less',
    reason: 'The program is called by the harness.',
    as: (text) => text.replaceAll(/Previous line repeated \d+ more times/g, 'Previous line repeated'),
  },
  {
    ways: ['plain'],
    engines: ['python'],
    fields: ['stderr'],
    what: 'the mark below an indentation error',
    reason: 'Python marks less if it reads the program from a file.',
    when: (finding) => /(?:Indentation|Tab)Error/.test(String(finding.expected)) && hasSameLine(finding),
  },
  {
    ways: ['plain'],
    engines: ['python'],
    fields: ['stderr'],
    what: 'tracebacks leave out frames of the standard library',
    reason: 'They say little about the program.',
    as: (text) => text.replaceAll(/  File "\/usr\/lib\/python3[^"\n]*".*\n(?:    .*\n)+/g, ''),
  },
  {
    ways: ['plain'],
    engines: ['bun'],
    fields: output,
    what: 'the console writes as Node’s: objects, tables, groups, format specifiers',
    reason: 'Programs print the same in both engines.',
    when: (finding) => codeOf(finding).includes('console.'),
    as: wordsOf,
  },
  {
    ways: ['plain'],
    engines: ['bun'],
    fields: output,
    what: 'warnings, assertions, timers and traces of the console are those of Node',
    reason: 'Programs print the same in both engines.',
    when: (finding) =>
      /console\.(?:assert|count|time|trace|dir|table|group|log\('%|log\("%)|Symbol\.toStringTag|new Point|new Uint8Array/.test(
        codeOf(finding),
      ),
  },
  {
    ways: ['plain'],
    engines: ['bun'],
    fields: output,
    what: 'errors are told as Node tells them, uncaught and logged; the line is the same, the column that of the call',
    reason: 'One form for both engines; Bun’s own begins with other lines of the program.',
    when: (finding) => hasSameLine(finding) || /DOMException/.test(String(finding.got)),
  },
  {
    ways: ['plain'],
    engines: ['bun'],
    fields: process,
    what: 'errors that plain Bun finds before anything runs, and its words for syntax errors and missing modules',
    reason: 'They come from another compiler. `module` and `exports` do not turn a program into CommonJS.',
    when: (finding) =>
      isSyntaxError(finding) ||
      says(finding, /Cannot find|not found in module|^error: .*\n {4}at |import call expects/m),
  },
  {
    ways: ['plain'],
    engines: ['bun'],
    fields: ['stderr'],
    what: 'thrown values that are no errors, and errors whose stack the program has changed',
    reason: 'As Node tells them: `Uncaught 42`, `[Error: message]`.',
    when: ({ expected, cold }) => cold.outcome === 'failed' && /^(?:Uncaught |\[)/m.test(String(expected)),
  },
  {
    ways: ['plain'],
    engines: ['bun'],
    fields: process,
    what: 'programs are strict and compiled as a whole: `with`, octal numbers and invalid patterns are syntax errors',
    reason: 'As in a module of Node.',
    when: (finding) => isSyntaxError(finding) && finding.seen.exitCode === 0,
  },
  {
    ways: ['plain'],
    engines: javascript,
    fields: process,
    what: 'decorators of TypeScript follow `experimentalDecorators`',
    reason: 'Most code with decorators needs it. Plain Bun has the standard’s, plain Node none.',
    when: (finding) => finding.program.request.language === 'typescript' && /@\w+/.test(codeOf(finding)),
  },
  {
    ways: ['plain'],
    engines: ['bun'],
    fields: process,
    what: 'JSX needs `react/jsx-runtime`, not `react/jsx-dev-runtime`',
    reason: 'Programs are compiled for production.',
    when: (finding) => says(finding, /jsx-dev-runtime/),
  },
  {
    ways: ['plain'],
    engines: ['bun'],
    fields: process,
    what: 'an `await` at the top level that never ends: exit code 13 and a warning',
    reason: 'As in Node. Plain Bun waits for ever.',
    when: ({ cold }) => cold.exitCode === 13,
  },
  {
    ways: ['plain'],
    engines: ['bun'],
    fields: ['stdout'],
    what: 'callbacks that wait when the program fails',
    reason: 'They do not run, as in Node.',
    when: ({ cold, expected, got }) => cold.outcome === 'failed' && String(got).startsWith(String(expected)),
  },
  {
    ways: ['plain'],
    engines: javascript,
    fields: ['stdout'],
    what: '`require` is global, code is strict, `Error.stackTraceLimit` is 16, and the harness has listeners of `process`',
    reason: 'The harness is in the same process; stacks still show ten frames.',
    when: (finding) =>
      /typeof require|stackTraceLimit|listenerCount|this === undefined/.test(codeOf(finding)),
  },
  {
    ways: ['plain'],
    engines: ['bun'],
    fields: ['stdout'],
    what: '`process.execArgv` has two options of Lazaret',
    reason: 'Programs that the program starts by `fork` get them, too: they find packages in the same way.',
    when: (finding) => /execArgv/.test(codeOf(finding)),
  },
  {
    ways: ['forked', 'http', 'mcp', 'plain'],
    engines: ['bun'],
    fields: [...texts, 'answer'],
    what: 'an `Error.prepareStackTrace` of the program gets frames of the harness, too',
    reason: 'Bun ignores an accessor, with which Node’s are left out.',
    when: (finding) => /Error\.prepareStackTrace/.test(codeOf(finding)),
  },
  {
    ways: ['context'],
    engines: ['python'],
    fields: ['stdout'],
    what: 'the handler of SIGINT, and `input`',
    reason: 'Both belong to the context: one interrupts a piece, the other asks `onInput`.',
    when: (finding) => /getsignal|print, input/.test(codeOf(finding)),
  },
  {
    ways: ['context', 'plain'],
    engines: ['python'],
    fields: ['stdout'],
    what: 'flags of the interpreter: a run is isolated (`-I`), has UTF-8 mode, and writes no bytecode',
    reason: 'What lies in the workspace cannot change the interpreter’s start. A context is not isolated.',
    when: (finding) => /sys\.flags|locale\./.test(codeOf(finding)),
  },
  {
    ways: ['plain'],
    engines: ['python'],
    fields: ['stdout'],
    what: '`display` is a builtin',
    reason: 'As in notebooks.',
    when: (finding) => /dir\(builtins\)/.test(codeOf(finding)),
  },
  {
    ways: ['plain'],
    engines: ['python'],
    fields: ['stdout'],
    what: 'standard output is written line by line; plain Python keeps it back at a pipe',
    reason: 'Callers see output as it happens. A program that is killed has written what it printed.',
    when: (finding) =>
      /os\.|\.buffer\.|subprocess/.test(codeOf(finding)) && (lacksItsEnd(finding) || hasSameLines(finding)),
  },
  {
    ways: ['parked', 'forked', 'http', 'mcp'],
    engines: ['bun'],
    fields: ['stdout', 'logs', 'answer'],
    what: 'at the top level, `process.nextTick` comes after microtasks; in a cold run, and in plain Bun, before',
    reason: 'A warm worker begins its run in a microtask. Node has the same order in every way.',
    when: (finding) => /nextTick/.test(codeOf(finding)),
  },
  {
    ways: ['plain'],
    engines: ['bun'],
    fields: ['stdout'],
    what: '`import.meta` has no `file` and an `env` of its own',
    reason: 'The program is no file.',
    when: (finding) => /import\.meta\.(?:file|env)\b/.test(codeOf(finding)),
  },
]

function hasSameLines({ expected, got }: Finding): boolean {
  const sorted = (text: unknown): string => String(text).split('\n').toSorted().join('\n')
  return sorted(expected) === sorted(got)
}

function hasSameLine({ expected, got }: Finding): boolean {
  const line = lineIn(expected)
  return line !== undefined && line === lineIn(got)
}
