/** Code that does not compile: the position in the error, which comes before any of it has run. */
import { type ConformanceProgram, type Expected, inTypeScript } from './program.ts'

type ErrorRow = readonly [title: string, code: string, error: NonNullable<Expected['error']>]

const broken = (rows: readonly ErrorRow[]): ConformanceProgram[] =>
  rows.map(([title, code, error]) => ({
    title,
    from: 'ECMA-262 17 Early Errors',
    code,
    expected: { outcome: 'syntax-error', error, stderr: /^<code>:\d+\n/ },
  }))

export const syntaxErrors: readonly ConformanceProgram[] = [
  ...broken([
    ['a syntax error', 'let a = 1\nlet b = (a + ;', { name: 'SyntaxError', line: 2, column: 14 }],
    ['a syntax error below await', 'await 0\nlet b = (1 + ;', { name: 'SyntaxError', line: 2, column: 14 }],
    [
      'a name that is declared twice',
      'let a = 1\nlet a = 2',
      { name: 'SyntaxError', message: /'a'/, line: 2, column: 5 },
    ],
    ['strict code only: with', 'with ({}) {}', { name: 'SyntaxError', line: 1, column: 1 }],
    ['strict code only: octal numbers', '1\n010', { name: 'SyntaxError', line: 2, column: 1 }],
    ['a return outside of a function', 'return 5', { name: 'SyntaxError', line: 1, column: 1 }],
    [
      'await in a function that is not async',
      'function f() {\n  await 1\n}',
      { name: 'SyntaxError', line: 2 },
    ],
    ['an unfinished string', 'const a = "b\n1', { name: 'SyntaxError', line: 1, column: 11 }],
    ['an invalid regular expression', 'const a = 1;\n/(/', { name: 'SyntaxError', line: 2, column: 2 }],
  ]),
  ...inTypeScript(
    broken([
      ['a syntax error in a type', 'let a = 1\nlet x: = 5', { name: 'SyntaxError', line: 2, column: 8 }],
      [
        'JSX in the program, which is no .tsx file',
        'const a = 1\nconst b = <div>text</div>',
        { name: 'SyntaxError', line: 2 },
      ],
    ]),
  ),
]
