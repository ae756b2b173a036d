/** Each console method of Node's documentation, on stdout or stderr and in the logs. */
import { type ConformanceProgram, type Expected } from './program.ts'

type Log = NonNullable<Expected['logs']>[number]
type Row = readonly [title: string, code: string, logs: readonly Log[]]

/** Every log is one or more lines of its stream. */
const logged = (rows: readonly Row[]): ConformanceProgram[] =>
  rows.map(([title, code, logs]) => {
    const text = (wanted: boolean): string =>
      logs
        .filter(([level]) => (level === 'warn' || level === 'error') === wanted)
        .map(([, said]) => `${said}\n`)
        .join('')
    return {
      title,
      from: 'Node: Console',
      code: `${code}; 0`,
      expected: { value: 0, logs, stdout: text(false), stderr: text(true) },
    }
  })

export const consoles: readonly ConformanceProgram[] = [
  ...logged([
    [
      'console.log of values of every kind',
      'console.log("a", 1, -0, 2n, true, null, undefined, Symbol("s"))',
      [['log', 'a 1 -0 2n true null undefined Symbol(s)']],
    ],
    [
      'console.log of objects',
      'console.log({ a: [1, { b: { c: {} } }], f() {}, m: new Map([[1, "x"]]), d: new Date(0), [Symbol("k")]: 1 })',
      [
        [
          'log',
          "{\n  a: [ 1, { b: [Object] } ],\n  f: [Function: f],\n  m: Map(1) { 1 => 'x' },\n  d: 1970-01-01T00:00:00.000Z,\n  Symbol(k): 1\n}",
        ],
      ],
    ],
    [
      'console.log of classes, instances and null prototypes',
      'class A { x = 1; #hidden = 2 }\nconsole.log(A, new A(), Object.create(null), new (class extends A {})())',
      [['log', '[class A] A { x: 1 } [Object: null prototype] {} A { x: 1 }']],
    ],
    [
      'console.log of cycles and getters',
      'const a = { get g() { return 1 }, set s(v) {} }; a.me = a; console.log(a)',
      [['log', '<ref *1> { g: [Getter], s: [Setter], me: [Circular *1] }']],
    ],
    [
      'console.log of long arrays and texts',
      'console.log(Array.from({ length: 101 }, () => 0).length, [..."ab"], ["x".repeat(5)])',
      [['log', "101 [ 'a', 'b' ] [ 'xxxxx' ]"]],
    ],
    [
      'the format specifiers',
      'console.log("%s|%d|%i|%f|%j|%o|%O|%c|%%|%x", "s", 42.5, 42.9, "1.5", { a: 1 }, [1], { b: 1 }, "css", "rest")',
      [['log', 's|42.5|42|1.5|{"a":1}|[ 1, [length]: 1 ]|{ b: 1 }||%|%x rest']],
    ],
    [
      'format specifiers without values',
      'console.log("%s %d"); console.log("%s", null, undefined); console.log("%d", "x"); console.log("100%", 5)',
      [
        ['log', '%s %d'],
        ['log', 'null undefined'],
        ['log', 'NaN'],
        ['log', '100% 5'],
      ],
    ],
    [
      'info, debug, warn and error',
      'console.info("i"); console.debug("d"); console.warn("w %s", 1); console.error("e")',
      [
        ['info', 'i'],
        ['debug', 'd'],
        ['warn', 'w 1'],
        ['error', 'e'],
      ],
    ],
    [
      'groups, nested and collapsed',
      'console.group("a"); console.log("1\\n2"); console.groupCollapsed("b"); console.warn("3"); console.groupEnd(); console.groupEnd(); console.groupEnd(); console.log("4")',
      [
        ['log', 'a'],
        ['log', '  1\n  2'],
        ['log', '  b'],
        ['warn', '    3'],
        ['log', '4'],
      ],
    ],
    [
      'console.dir with options, console.dirxml',
      'console.dir({ a: { b: { c: {} } } }, { depth: 0 }); console.dir({ a: { b: { c: {} } } }, { depth: null }); console.dirxml({ x: 1 }, [2])',
      [
        ['log', '{ a: [Object] }'],
        ['log', '{ a: { b: { c: {} } } }'],
        ['log', '{ x: 1 } [ 2 ]'],
      ],
    ],
    [
      'counters',
      'console.count(); console.count("x"); console.count(); console.countReset(); console.count(); console.countReset("none")',
      [
        ['log', 'default: 1'],
        ['log', 'x: 1'],
        ['log', 'default: 2'],
        ['log', 'default: 1'],
        ['warn', "Warning: Count for 'none' does not exist"],
      ],
    ],
    [
      'assertions',
      'console.assert(1 === 1, "no"); console.assert(false, "n is %d", 5); console.assert(0); console.assert(false, { a: 1 })',
      [
        ['warn', 'Assertion failed: n is 5'],
        ['warn', 'Assertion failed'],
        ['warn', 'Assertion failed { a: 1 }'],
      ],
    ],
    [
      'a table of objects',
      'console.table([{ a: 1, b: "x" }, { a: 2, c: true }])',
      [
        [
          'log',
          "┌─────────┬───┬─────┬──────┐\n│ (index) │ a │ b   │ c    │\n├─────────┼───┼─────┼──────┤\n│ 0       │ 1 │ 'x' │      │\n│ 1       │ 2 │     │ true │\n└─────────┴───┴─────┴──────┘",
        ],
      ],
    ],
    [
      'a table of chosen columns, of a map and of no table',
      'console.table([{ a: 1, b: 2 }], ["b"]); console.table(new Map([["k", 1]])); console.table("text")',
      [
        ['log', '┌─────────┬───┐\n│ (index) │ b │\n├─────────┼───┤\n│ 0       │ 2 │\n└─────────┴───┘'],
        [
          'log',
          "┌───────────────────┬─────┬────────┐\n│ (iteration index) │ Key │ Values │\n├───────────────────┼─────┼────────┤\n│ 0                 │ 'k' │ 1      │\n└───────────────────┴─────┴────────┘",
        ],
        ['log', 'text'],
      ],
    ],
    [
      'errors with their stacks',
      'const e = new Error("m", { cause: new TypeError("c") }); e.stack = "Error: m\\n    at x"; e.cause.stack = "TypeError: c\\n    at y"; console.log(e)',
      [['log', 'Error: m\n    at x {\n  [cause]: TypeError: c\n      at y\n}']],
    ],
    [
      'a timer that was not started',
      'console.timeEnd("none"); console.timeLog("none")',
      [
        ['warn', "Warning: No such label 'none' for console.timeEnd()"],
        ['warn', "Warning: No such label 'none' for console.timeLog()"],
      ],
    ],
    [
      'custom inspection',
      'console.log({ [require("util").inspect.custom]: () => "mine" }, `${{ toString: () => "text" }}`)',
      [['log', 'mine text']],
    ],
  ]),
  {
    title: 'timers of the console',
    from: 'Node: Console',
    code: 'console.time("t"); console.timeLog("t", { a: 1 }); console.timeEnd("t"); 0',
    expected: { value: 0, stdout: /^t: [\d.]+ms \{ a: 1 \}\nt: [\d.]+ms\n$/ },
  },
  {
    title: 'console.trace with the places of the program',
    from: 'Node: Console',
    code: 'function f() {\n  console.trace("here %d", 1)\n}\nf(); 0',
    expected: { value: 0, stderr: /^Trace: here 1\n {4}at f \(<code>:2:\d+\)\n {4}at <code>:4:\d+\n$/ },
  },
  {
    title: 'an error that is logged, in written lines',
    from: 'Node: Console',
    language: 'typescript',
    code: 'interface A {\n  x: 1\n}\nconsole.error(new Error("e"))\n0',
    expected: { value: 0, stderr: /^Error: e\n {4}at <code>:4:15\n$/ },
  },
  {
    title: 'a console of its own on the standard streams',
    from: 'Node: Console',
    code: 'const { Console } = require("console"); const c = new Console({ stdout: process.stdout, stderr: process.stderr }); c.log("own"); c.error("err"); 0',
    expected: { value: 0, stdout: 'own\n', stderr: 'err\n', logs: [] },
  },
  {
    title: 'process.stdout.write beside the console, in order',
    from: 'Node: Process I/O',
    code: 'console.log(1); process.stdout.write("2\\n"); console.log(3); process.stderr.write("e"); 0',
    expected: {
      value: 0,
      stdout: '1\n2\n3\n',
      stderr: 'e',
      logs: [
        ['log', '1'],
        ['log', '3'],
      ],
    },
  },
  {
    title: 'console text for a program that has replaced the write of process.stdout',
    from: 'Node: Console',
    code: 'const taken = []; const { write } = process.stdout; process.stdout.write = (text) => taken.push(text); console.log("a"); process.stdout.write = write; taken',
    expected: { value: ['a\n'], logs: [['log', 'a']] },
    differs: {
      bun: {
        reason: 'The console of Bun writes to the descriptor, and never asks the stream.',
        expected: { value: [], stdout: 'a\n', logs: [['log', 'a']] },
      },
    },
  },
]
