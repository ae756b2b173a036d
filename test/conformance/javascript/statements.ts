/** ECMA-262, chapters 14 and 16: each kind of statement, and the value of a program. */
import { valueOf } from './program.ts'

export const statements = [
  ...valueOf('ECMA-262 14.2 Block', [
    ['a block, whose last value counts', '1; { 2; 3 }', 3],
    ['a block with declarations of its own', 'let a = 1; { let a = 2; a + 10 } a', 1],
  ]),
  ...valueOf('ECMA-262 14.3 Declarations and the Variable Statement', [
    ['let and const, which have no value', '4; let a = 5; const b = 6', 4],
    [
      'destructuring of objects with defaults and renaming',
      'const { a, b: { c = 5 } = {}, ...rest } = { a: 1, d: 2 }; [a, c, rest]',
      [1, 5, { d: 2 }],
    ],
    [
      'destructuring of arrays with holes and rest',
      'const [a, , b = 9, ...c] = [1, 2, undefined, 4, 5]; [a, b, c]',
      [1, 9, [4, 5]],
    ],
    ['swapping by destructuring', 'let a = 1, b = 2; [a, b] = [b, a]; [a, b]', [2, 1]],
    ['var, which is hoisted out of its block', '{ var a = 1 } a', 1],
    [
      'using, which disposes at the end of its block, last first',
      'const seen = []; { using a = { [Symbol.dispose]() { seen.push("a") } }; using b = { [Symbol.dispose]() { seen.push("b") } }; seen.push("body") } seen',
      ['body', 'b', 'a'],
    ],
    [
      'await using',
      'const seen = []; { await using a = { async [Symbol.asyncDispose]() { await 0; seen.push("gone") } }; seen.push("here") } seen',
      ['here', 'gone'],
    ],
    ['using at the top level', 'using a = { value: 3, [Symbol.dispose]() {} }; a.value', 3],
    [
      'a temporal dead zone',
      'let name; try { x; let x = 1 } catch (e) { name = e.name } name',
      'ReferenceError',
    ],
  ]),
  ...valueOf('ECMA-262 14.4 and 14.5 Empty and Expression Statements', [
    ['empty statements, which change nothing', '7;;;;', 7],
    ['a program without a statement', '', undefined],
    ['a comma, whose last operand counts', '1, 2, 3', 3],
    ['a line break where a semicolon is inserted', 'const a = 1\nconst b = 2\n;[a, b]', [1, 2]],
    ['a template that goes on over lines', '`a\n${1 + 1}`', 'a\n2'],
    ['an object in parentheses', '({ a: 1 })', { a: 1 }],
    ['braces that are a block with a label', '{ a: 1 }', 1],
    ['an assignment', 'let a; a = 8', 8],
    [
      'delete, void, typeof and in',
      'const o = { a: 1 }; [delete o.a, void 0, typeof o, "a" in o]',
      [true, undefined, 'object', false],
    ],
  ]),
  ...valueOf('ECMA-262 14.6 The if Statement', [
    ['if', 'if (1) "yes"; else "no"', 'yes'],
    ['if that is not taken, which resets the value', '5; if (0) 6', undefined],
    ['else if', 'const n = 2; if (n === 1) "a"; else if (n === 2) "b"; else "c"', 'b'],
  ]),
  ...valueOf('ECMA-262 14.7 Iteration Statements', [
    ['do … while', 'let i = 0; do i++; while (i < 3)', 2],
    ['while with continue and break', 'let i = 0; while (true) { if (i++ < 2) continue; i; break }', 3],
    [
      'for with a let of its own for each turn',
      'const f = []; for (let i = 0; i < 3; i++) f.push(() => i); f.map((g) => g())',
      [0, 1, 2],
    ],
    [
      'for … in in order of creation, numbers first',
      'const k = []; for (const key in { b: 1, a: 2, 1: 3, 0: 4 }) k.push(key); k',
      ['0', '1', 'b', 'a'],
    ],
    ['for … of over strings by code point', 'const c = []; for (const x of "a😀") c.push(x); c', ['a', '😀']],
    [
      'for … of, which closes its iterator',
      'let closed = false; const it = { [Symbol.iterator]() { return { next: () => ({ value: 1, done: false }), return() { closed = true; return {} } } } }; for (const x of it) break; closed',
      true,
    ],
    [
      'for await … of over promises',
      'let s = 0; for await (const x of [1, Promise.resolve(2), 3]) s += x; s',
      6,
    ],
    [
      'for await … of over an async generator',
      'async function* g() { yield 1; yield 2 }\nconst a = []; for await (const x of g()) a.push(x)\na',
      [1, 2],
    ],
    ['the value of a loop that await stands in', 'for (const x of [1, 2]) { await 0; x * 2 }', 4],
  ]),
  ...valueOf('ECMA-262 14.8 to 14.13 Jumps, switch and labels', [
    [
      'continue with a label',
      'const a = []; outer: for (const x of [1, 2]) for (const y of [1, 2]) { if (y === 2) continue outer; a.push([x, y]) } a',
      [
        [1, 1],
        [2, 1],
      ],
    ],
    ['break out of a labelled block', 'a: { 1; break a; 2 }', 1],
    [
      'switch with fall-through and default in the middle',
      'const a = []; switch (3) { case 1: a.push(1); default: a.push("d"); case 2: a.push(2) } a',
      ['d', 2],
    ],
    ['switch with strict comparison', 'switch ("1") { case 1: "number"; break; case "1": "text" }', 'text'],
  ]),
  ...valueOf('ECMA-262 14.14 and 14.15 throw and try', [
    [
      'try, catch and finally in order',
      'const a = []; try { a.push(1); throw 0 } catch { a.push(2) } finally { a.push(3) } a',
      [1, 2, 3],
    ],
    ['a value of try that finally does not change', 'try { "try" } finally { "finally" }', 'try'],
    ['catch with a pattern', 'try { throw { code: 5 } } catch ({ code }) { code }', 5],
    ['return in finally, which wins', '(() => { try { return 1 } finally { return 2 } })()', 2],
    ['try around await', 'try { await Promise.reject(new Error("no")) } catch (e) { e.message }', 'no'],
  ]),
  ...valueOf('ECMA-262 11.2.2 Strict Mode Code', [
    ['strict code: this of a plain call', '(function () { return this })()', undefined],
    ['strict code: no undeclared variables', 'try { undeclared = 1 } catch (e) { e.name }', 'ReferenceError'],
    [
      'strict code: frozen objects throw',
      'try { Object.freeze([]).push(1) } catch (e) { e.name }',
      'TypeError',
    ],
    ['this at the top level', 'this === globalThis', true],
  ]),
]
