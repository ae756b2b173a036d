/** How programs fail: with the program's own line numbers, through every compiler, as far as the engines know them. */
import { type ConformanceProgram, type Expected, inTypeScript } from './program.ts'

type ErrorRow = readonly [title: string, code: string, error: NonNullable<Expected['error']>]
const failing = (
  from: string,
  rows: readonly ErrorRow[],
  files?: Record<string, string>,
): ConformanceProgram[] =>
  rows.map(([title, code, error]) => ({
    title,
    from,
    code,
    ...(files && { files }),
    expected: { outcome: 'failed', exitCode: 1, error, stderr: /./ },
  }))
const files = {
  'throws.ts':
    'interface A {\n  x: 1\n}\n\nexport function fail(a: A): never {\n  throw new RangeError(`x is ${a.x}`)\n}',
  'broken.js': 'export const a = 1\nexport const b = ;',
  'broken.ts': 'interface A {\n  x: 1\n}\nexport const b: number = ;',
  'loads-broken.js': 'import "./broken.js"',
  'at-load.ts': 'type A = {\n  x: 1\n}\nthrow new Error("at load")',
  'ok.mjs': 'export const ok = 1',
}

const failed = (error: Expected['error']): Expected =>
  ({ outcome: 'failed', exitCode: 1, error, stderr: /./ }) as Expected

export const errors: readonly ConformanceProgram[] = [
  {
    title: 'causes, fields and aggregated errors, all of them shown',
    from: 'ECMA-262 20.5.8 InstallErrorCause and 20.5.7 AggregateError',
    code: 'const inner = new AggregateError([new TypeError("one"), "two"], "all")\nthrow Object.assign(new Error("outer", { cause: inner }), { code: "E_MINE" })',
    expected: {
      outcome: 'failed',
      exitCode: 1,
      error: { name: 'Error', message: 'outer', line: 2 },
      stderr:
        /^<code>:2\n[^]*Error: outer\n[^]*code: 'E_MINE',\n[^]*\[cause\]: AggregateError: all\n[^]*\[errors\]: \[\n\s+TypeError: one\n[^]*'two'/,
    },
  },
  {
    title: 'an error after the value, which both are kept',
    from: 'Lazaret: value and outcome',
    code: 'setTimeout(() => { throw new Error("after") }, 1)\n"value"',
    expected: {
      outcome: 'failed',
      exitCode: 1,
      value: 'value',
      error: { name: 'Error', message: 'after', line: 1 },
      stderr: /after/,
    },
  },
  {
    title: 'an error in a worker that nobody listens to',
    from: 'Node: Worker threads, event error',
    code: 'new (require("worker_threads").Worker)("throw new RangeError(\'in the worker\')", { eval: true })\nundefined',
    expected: {
      outcome: 'failed',
      exitCode: 1,
      error: { name: 'RangeError', message: /in the worker/ },
      stderr: /in the worker/,
    },
  },
  {
    title: 'errors of disposal and of the body together',
    from: 'ECMA-262 Explicit Resource Management, SuppressedError',
    code: 'try { using a = { [Symbol.dispose]() { throw new Error("dispose") } }; throw new Error("body") } catch (e) { [e.name, e.error.message, e.suppressed.message] }',
    expected: { value: ['SuppressedError', 'dispose', 'body'] },
  },
  {
    title: 'an error of a class without a constructor of its own',
    from: 'ECMA-262 15.7.14 Class Definition Evaluation, default constructors',
    code: 'class Sub extends RangeError {}\nthrow new Sub("sub")',
    expected: failed({
      name: 'RangeError',
      line: 2,
      column: 7,
      stack: /^RangeError: sub\n {4}at <code>:2:7$/,
    }),
  },
  {
    title: 'a name that is not there, with its column',
    from: 'ECMA-262 13.1.3 Identifier References',
    code: '\n  nowhere',
    expected: failed({ name: 'ReferenceError', message: 'nowhere is not defined', line: 2, column: 3 }),
    differs: {
      bun: {
        reason: 'JavaScriptCore names the end of the expression where V8 names its start.',
        expected: failed({ name: 'ReferenceError', message: 'nowhere is not defined', line: 2, column: 10 }),
      },
    },
  },
  {
    title: 'a call in a stack, with its column',
    from: 'Node: Errors, error.stack',
    code: 'const f = () => { throw new Error("f") }\n  f(1)',
    expected: failed({ name: 'Error', line: 1, stack: /at <code>:2:3$/ }),
    differs: {
      bun: {
        reason:
          'JavaScriptCore names the opening parenthesis of a call where V8 names the start of what is called.',
        expected: failed({ name: 'Error', line: 1, stack: /at <code>:2:4$/ }),
      },
    },
  },
  {
    title: 'what is no function, in the engine’s words',
    from: 'ECMA-262 13.3.6 Function Calls',
    code: 'const o = {}; o.missing()',
    expected: failed({ name: 'TypeError', message: 'o.missing is not a function' }),
    differs: {
      bun: {
        reason: 'The engines word their messages differently.',
        expected: failed({
          name: 'TypeError',
          message: "o.missing is not a function. (In 'o.missing()', 'o.missing' is undefined)",
        }),
      },
    },
  },
  ...failing('ECMA-262 20.5 Error Objects', [
    [
      'throw, with line and column',
      'const a = 1\n\n  throw new RangeError("far")',
      {
        name: 'RangeError',
        message: 'far',
        line: 3,
        column: 9,
        stack: /^RangeError: far\n {4}at <code>:3:9$/,
      },
    ],
    [
      'a throw below await',
      'await 0\n  throw new RangeError("far")',
      { name: 'RangeError', message: 'far', line: 2, column: 9 },
    ],
    [
      'an error of a class of its own',
      'class MyError extends Error { name = "MyError" }\nthrow new MyError("m")',
      { name: 'MyError', message: 'm', line: 2, column: 7 },
    ],
    [
      'an error in a function, with both frames',
      'function f() {\n  throw new Error("in f")\n}\n\nf()',
      {
        name: 'Error',
        line: 2,
        column: 9,
        stack: /^Error: in f\n {4}at f \(<code>:2:9\)\n {4}at <code>:5:\d+$/,
      },
    ],
    [
      'an error in a timer',
      '1\nsetTimeout(() => {\n  throw new Error("late")\n}, 1)\nundefined',
      { name: 'Error', message: 'late', line: 3, column: 9 },
    ],
    [
      'an error in a promise callback',
      'Promise.resolve().then(() => {\n  throw new Error("then")\n})\nundefined',
      { name: 'Error', message: 'then', line: 2, column: 9 },
    ],
    [
      'an error in an event listener',
      'const { EventEmitter } = require("events")\nconst e = new EventEmitter()\ne.on("x", () => {\n  throw new Error("event")\n})\ne.emit("x")',
      { name: 'Error', message: 'event', line: 4, column: 9 },
    ],
    [
      'an error event without a listener',
      'const { EventEmitter } = require("events")\nnew EventEmitter().emit("error", new Error("nobody"))',
      { name: 'Error', message: 'nobody', line: 2 },
    ],
    [
      'a rejection that nobody handles',
      'Promise.reject(new TypeError("no"))\nundefined',
      { name: 'TypeError', message: 'no', line: 1, column: 16 },
    ],
    [
      'a rejection in a timer, after the value',
      'setTimeout(() => Promise.reject(new TypeError("late")), 20)\nundefined',
      { name: 'TypeError', message: 'late', line: 1 },
    ],
    [
      'an async function that nobody awaits and that fails late',
      'async function f() {\n  await new Promise((resolve) => setTimeout(resolve, 20))\n  throw new TypeError("late")\n}\nf()\nundefined',
      { name: 'TypeError', message: 'late', line: 3 },
    ],
    [
      'an error with a text of its own, whose stack begins with its name and message',
      'class Z extends Error {\n  get name() { return "ZodError" }\n  get message() { return "[1]" }\n  toString() { return this.message }\n}\n  throw new Z()',
      { name: 'ZodError', message: '[1]', line: 6, column: 9, stack: /^ZodError: \[1\]\n {4}at <code>:6:9$/ },
    ],
    [
      'an error without a message',
      'class Empty extends Error { toString() { return "text" } }\nthrow new Empty()',
      { name: 'Error', message: '', line: 2, column: 7, stack: /^Error\n {4}at <code>:2:7$/ },
    ],
    ['a value that is no error', 'throw { code: 5 }', { name: 'Uncaught', message: '{ code: 5 }' }],
    ['a rejection with a text', 'await Promise.reject("text")', { name: 'Uncaught', message: 'text' }],
    [
      'calling what is no function',
      'const o = {}\no.missing()',
      { name: 'TypeError', message: /^o\.missing is not a function/, line: 2 },
    ],
    [
      'stack overflow',
      'function f() { return f() + 1 }\nf()',
      { name: 'RangeError', message: /call stack/i },
    ],
    [
      'an assertion of node:assert',
      'import assert from "node:assert/strict"\nassert.equal(1, 2)',
      { name: 'AssertionError', message: /1 !== 2/, line: 2 },
    ],
    [
      'a file that is not there',
      'require("fs").readFileSync("/workspace/none")',
      { name: 'Error', message: "ENOENT: no such file or directory, open '/workspace/none'" },
    ],
  ]),
  ...inTypeScript(
    failing('TypeScript Handbook, through the compiler', [
      [
        'an error below types, in written lines',
        'interface A {\n  x: number\n}\nenum E { B }\nclass P { constructor(public a: A) {} }\nfunction f(a: A): never {\n  throw new TypeError("bad")\n}\nf(null as any)',
        {
          name: 'TypeError',
          line: 7,
          column: 9,
          stack: /^TypeError: bad\n {4}at f \(<code>:7:9\)\n {4}at <code>:9:\d+$/,
        },
      ],
      [
        'an error in a decorated method',
        'const d = (...a: any[]): any => {}\nclass A {\n  @d m(): void {\n    throw new Error("m")\n  }\n}\nnew A().m()',
        { name: 'Error', message: 'm', line: 4, column: 11 },
      ],
      [
        'an error in a namespace below await',
        'await 0\nnamespace N {\n  export const f = (): never => {\n    throw new Error("n")\n  }\n}\nN.f()',
        { name: 'Error', message: 'n', line: 4, column: 11 },
      ],
    ]),
  ),
  ...failing(
    'Node: ECMAScript modules',
    [
      [
        'an error in a TypeScript file, with its line',
        'import { fail } from "./throws.ts"\n\nfail({ x: 1 })',
        {
          name: 'RangeError',
          message: 'x is 1',
          line: 3,
          stack: /^RangeError: x is 1\n {4}at fail \(\/workspace\/throws\.ts:6:\d+\)\n {4}at <code>:3:\d+$/,
        },
      ],
      [
        'an error while a file is loaded',
        '0\nimport "./at-load.ts"',
        { name: 'Error', message: 'at load', line: 2, column: 1, stack: /\/workspace\/at-load\.ts:4:\d+/ },
      ],
      [
        'a JavaScript file that does not compile',
        'import { a } from "./broken.js"\na',
        {
          name: 'SyntaxError',
          line: 1,
          column: 1,
          stack: /^SyntaxError: .*\n {4}at \/workspace\/broken\.js:2:18/,
        },
      ],
      [
        'a TypeScript file that does not compile',
        'import { b } from "./broken.ts"\nb',
        {
          name: 'SyntaxError',
          line: 1,
          column: 1,
          stack: /^SyntaxError: .*\n {4}at \/workspace\/broken\.ts:4:26/,
        },
      ],
      [
        'a file that imports one that does not compile',
        '\nimport "./loads-broken.js"',
        { name: 'SyntaxError', line: 2, stack: /at \/workspace\/broken\.js:2:18/ },
      ],
      [
        'a required file that does not compile',
        'require("./broken.js")',
        { name: 'SyntaxError', stack: /at \/workspace\/broken\.js:2:18/ },
      ],
      [
        'an import of a file that is not there',
        'let a = 1\nimport "./none.js"',
        { name: 'Error', message: /Cannot find module/, line: 2, column: 1 },
      ],
      [
        'an import of a package that is not there',
        'import left from "no-such-package"\nleft',
        { name: 'Error', message: /Cannot find package 'no-such-package'/, line: 1, column: 1 },
      ],
      [
        'an import of a name that is not exported',
        '\nimport { nope } from "./ok.mjs"\nnope',
        {
          name: 'SyntaxError',
          message: "The requested module './ok.mjs' does not provide an export named 'nope'",
          line: 2,
          column: 1,
        },
      ],
    ],
    files,
  ),
]
