/** ECMA-262, chapter 15: functions, generators and classes; and promises, chapter 27. */
import { valueOf } from './program.ts'

export const functions = [
  ...valueOf('ECMA-262 15.1 to 15.3 Functions and parameters', [
    ['function declarations before their place', 'f(); function f() { return 4 }', 4],
    ['default parameters that see earlier ones', '((a, b = a * 2) => [a, b])(3)', [3, 6]],
    ['rest and spread', '((...a) => a.length)(...[1, 2], ...new Set([3]))', 3],
    ['arrows that keep this', 'const o = { n: 1, f() { return [1].map(() => this.n) } }; o.f()', [1]],
    ['arguments', '(function () { return [...arguments] })(1, 2)', [1, 2]],
    ['closures', 'const counter = () => { let n = 0; return () => ++n }; const c = counter(); c(); c()', 2],
    ['tagged templates with raw strings', '((s, ...v) => [s.raw[0], v])`\\n${1}`', ['\\n', [1]]],
    ['new.target', 'function F() { return { isNew: new.target === F } } new F().isNew', true],
    [
      'getters, setters and computed names',
      'const o = { _a: 1, get ["x"]() { return this._a }, set x(v) { this._a = v * 2 } }; o.x = 4; o.x',
      8,
    ],
    [
      'optional chaining and nullish coalescing',
      'const o = { f: null }; [o?.a?.b, o.f?.(), o.a ?? "d", 0 ?? 1, 0 || 1]',
      [undefined, undefined, 'd', 0, 1],
    ],
    ['logical assignment', 'let a = null, b = 1, c = 0; a ??= 5; b &&= 6; c ||= 7; [a, b, c]', [5, 6, 7]],
    [
      'exponents, big integers and numeric separators',
      '[2 ** 10, 2n ** 64n, 1_000]',
      [1024, 18446744073709551616n, 1000],
    ],
  ]),
  ...valueOf('ECMA-262 15.5 Generators', [
    [
      'generators that take and give',
      'function* g() { const a = yield 1; yield a * 2 } const i = g(); [i.next().value, i.next(21).value, i.next().done]',
      [1, 42, true],
    ],
    [
      'yield*',
      'function* a() { yield 1; return 2 } function* b() { const r = yield* a(); yield r } [...b()]',
      [1, 2],
    ],
    ['iterator helpers', '[1, 2, 3, 4].values().filter((x) => x % 2).map((x) => x * 10).toArray()', [10, 30]],
  ]),
  ...valueOf('ECMA-262 15.7 Classes', [
    [
      'private fields, methods and the brand check',
      'class A { #x = 1; #m() { return this.#x } static has(o) { return #x in o } get() { return this.#m() } } [new A().get(), A.has(new A()), A.has({})]',
      [1, true, false],
    ],
    ['static blocks and static fields', 'class A { static a = 1; static { this.b = this.a + 1 } } A.b', 2],
    [
      'inheritance with super',
      'class A { f() { return "A" } } class B extends A { f() { return super.f() + "B" } } new B().f()',
      'AB',
    ],
    [
      'subclasses of built-ins',
      'class Stack extends Array { top() { return this.at(-1) } } const s = Stack.from([1, 2]); [s.top(), s.length, s instanceof Stack]',
      [2, 2, true],
    ],
    [
      'accessors that are inherited',
      'class A { get x() { return 1 } static get y() { return 2 } } class B extends A {} [new B().x, B.y]',
      [1, 2],
    ],
    ['a class without new, which throws', 'class A {} try { A() } catch (e) { e.name }', 'TypeError'],
    [
      'Symbol.species, toPrimitive and toStringTag',
      'const o = { [Symbol.toPrimitive]: (hint) => hint, get [Symbol.toStringTag]() { return "Mine" } }; [`${o}`, +o, o + "", String(Object.prototype.toString.call(o))]',
      ['string', NaN, 'default', '[object Mine]'],
    ],
  ]),
  ...valueOf('ECMA-262 15.8 Async functions and 27.2 Promise', [
    [
      'an async function as the last expression, which is awaited',
      '(async () => { await null; return 7 })()',
      7,
    ],
    [
      'top-level await with declarations around it',
      'const a = await Promise.resolve(1)\nfunction f() { return a + b }\nconst b = await 2\nf()',
      3,
    ],
    [
      'Promise.all and Promise.allSettled',
      'const r = await Promise.allSettled([Promise.resolve(1), Promise.reject(new Error("x"))]); [await Promise.all([1, Promise.resolve(2)]), r.map((x) => x.status)]',
      [
        [1, 2],
        ['fulfilled', 'rejected'],
      ],
    ],
    [
      'Promise.any and Promise.race',
      '[await Promise.any([Promise.reject(1), Promise.resolve(2)]), await Promise.race([new Promise(() => {}), 3])]',
      [2, 3],
    ],
    [
      'Promise.any when all fail',
      'try { await Promise.any([Promise.reject(1)]) } catch (e) { [e.name, e.errors] }',
      ['AggregateError', [1]],
    ],
    [
      'Promise.withResolvers and Promise.try',
      'const { promise, resolve } = Promise.withResolvers(); resolve(await Promise.try(() => 5)); await promise',
      5,
    ],
    [
      'microtasks before timers',
      'const a = []; setTimeout(() => a.push("timer")); queueMicrotask(() => a.push("micro")); Promise.resolve().then(() => a.push("then")); a.push("sync"); await new Promise((r) => setTimeout(r, 5)); a',
      ['sync', 'micro', 'then', 'timer'],
    ],
    [
      'async generators closed early',
      'let done = false; async function* g() { try { yield 1; yield 2 } finally { done = true } } for await (const x of g()) break; done',
      true,
    ],
    ['a thenable as the value', '({ then: (resolve) => resolve("then") })', 'then'],
    ['a function as the value, which cannot cross but has a text', 'String((() => 1).call())', '1'],
  ]),
]
