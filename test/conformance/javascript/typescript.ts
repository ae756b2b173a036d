/** The TypeScript handbook: syntax that becomes code, and syntax that is erased. */
import { inTypeScript, valueOf } from './program.ts'

const note = 'const seen: any[] = []\nfunction note(...args: any[]): any { seen.push(args.slice(1)) }\n'

export const typescript = inTypeScript([
  ...valueOf('Handbook: Enums', [
    [
      'numeric enums with computed members and reverse names',
      'enum E { A = 1, B, C = "xyz".length } [E.B, E[2], E.C]',
      [2, 'B', 3],
    ],
    [
      'string and mixed enums',
      'enum E { Up = "UP", One = 1 } [E.Up, Object.keys(E)]',
      ['UP', ['1', 'Up', 'One']],
    ],
    ['const enums', 'const enum E { A = 1 << 3, B = A | 1 } E.B', 9],
    ['enums that are declared twice', 'enum E { A } enum E { B = 5 } [E.A, E.B]', [0, 5]],
    ['an exported enum', 'export enum E { A = "a" }\nE.A', 'a'],
  ]),
  ...valueOf('Handbook: Namespaces and Declaration Merging', [
    [
      'namespaces, nested and dotted',
      'namespace A.B { export const c = 1; export namespace D { export const e = c + 1 } } A.B.D.e',
      2,
    ],
    [
      'a namespace that is merged with a function, a class and an enum',
      'function f() { return f.n } namespace f { export const n = 1 }\nclass C { static x = C.y } namespace C { export const y = 2 }\nenum E { A } namespace E { export const size = 1 }\n[f(), C.y, E.size]',
      [1, 2, 1],
    ],
    ['aliases of members', 'namespace A { export const b = { c: 3 } } import d = A.b; d.c', 3],
    [
      'a namespace of types, which leaves nothing',
      'namespace T { export interface X { a: 1 } } const x: T.X = { a: 1 }; [x.a, typeof (globalThis as any).T]',
      [1, 'undefined'],
    ],
    [
      'interfaces that merge',
      'interface A { x: number } interface A { y: number } const a: A = { x: 1, y: 2 }; a',
      { x: 1, y: 2 },
    ],
  ]),
  ...valueOf('Handbook: Classes', [
    [
      'parameter properties of every kind',
      'class P { constructor(public a: number, protected b = 2, readonly c?: number, private readonly d = 4) {} } ({ ...new P(1) })',
      { a: 1, b: 2, c: undefined, d: 4 },
    ],
    [
      'parameter properties before field initializers',
      'class P { double = 0; constructor(public n: number) { this.double = n * 2 } } new P(4).double',
      8,
    ],
    [
      'abstract classes, overloads and override',
      'abstract class A { abstract f(): number; g(a: string): string; g(a: number): number; g(a: any) { return a } }\nclass B extends A { override f() { return this.g(5) } }\nnew B().f()',
      5,
    ],
    [
      'accessor fields',
      'class A { accessor x = 3; static accessor y = 4 } const a = new A(); a.x += 1; [a.x, A.y, Object.keys(a)]',
      [4, 4, []],
    ],
    [
      'declared and optional fields',
      'class A { declare a: number; b?: string; c!: number; d = 1 } Object.keys(new A())',
      ['b', 'c', 'd'],
    ],
    [
      'index signatures, this types and implements',
      'interface I { f(): this } class A implements I { [key: string]: any; f() { return this } } new A().f() instanceof A',
      true,
    ],
    [
      'generic classes and mixins',
      'type Ctor<T = {}> = new (...args: any[]) => T; const Tagged = <B extends Ctor>(Base: B) => class extends Base { tag = "t" }; class A {} new (Tagged(A))().tag',
      't',
    ],
    [
      'class expressions with private names',
      'const A = class<T> { #v: T; constructor(v: T) { this.#v = v } get v(): T { return this.#v } }; new A<number>(3).v',
      3,
    ],
  ]),
  ...valueOf('Handbook: Decorators (experimentalDecorators)', [
    [
      'class decorators, which may replace the class',
      'function wrap<T extends new (...a: any[]) => object>(B: T) { return class extends B { extra = 1 } }\n@wrap class A { own = 2 }\n({ ...new A() })',
      { own: 2, extra: 1 },
    ],
    [
      'decorators of members, with key and descriptor',
      `${note}class A { @note m() {} @note f = 1; @note get g() { return 1 } @note static s() {} }\nseen.map(([key, d]) => [key, typeof d])`,
      [
        ['m', 'object'],
        ['f', 'undefined'],
        ['g', 'object'],
        ['s', 'object'],
      ],
    ],
    [
      'decorators of parameters',
      `${note}class A { constructor(@note a: number) {} m(@note b: string) {} }\nseen`,
      [
        ['m', 0],
        [undefined, 0],
      ],
    ],
    [
      'decorators of parameters, whose values count for nothing',
      'const d = (...a: any[]): any => () => 1\nclass A { constructor(@d a?: any) {} m(@d b: string) { return b } }\nnew A().m("kept")',
      'kept',
    ],
    [
      'decorator factories, evaluated down and applied up',
      'const log: string[] = []; const f = (n: string) => { log.push("make " + n); return (...a: any[]): any => { log.push("call " + n) } }\nclass A { @f("1") @f("2") m() {} }\nlog',
      ['make 1', 'make 2', 'call 2', 'call 1'],
    ],
    [
      'a decorator that replaces a method',
      'const twice = (t: any, k: string, d: PropertyDescriptor) => { const m = d.value; d.value = function (...a: any[]) { return m.apply(this, a) * 2 } }\nclass A { @twice m(n: number) { return n } }\nnew A().m(4)',
      8,
    ],
    [
      'a decorated class that names itself',
      'const keep = (c: any) => c\n@keep class A { static make() { return new A() } }\nA.make() instanceof A',
      true,
    ],
  ]),
  ...valueOf('Handbook: Types', [
    [
      'satisfies, as const and non-null assertions',
      'const a = { x: [1, 2] as const, y: null as string | null } satisfies object; [a.x[0]!, a.y!]',
      [1, null],
    ],
    ['assertions in angle brackets', 'const a = <number>(<unknown>"5"); typeof a', 'string'],
    [
      'generic functions, arrows and instantiation expressions',
      'const id = <T,>(x: T): T => x; function pair<A, const B>(a: A, b: B): [A, B] { return [a, b] }\nconst n = id<number>; [n(1), pair("a", 2)]',
      [1, ['a', 2]],
    ],
    [
      'overloads, this parameters, assertion signatures and type predicates',
      'function is(x: unknown): x is string { return typeof x === "string" }\nfunction must(this: void, x: unknown): asserts x is string { if (!is(x)) throw new Error("no") }\nmust("a"); is("b")',
      true,
    ],
    [
      'conditional, mapped, template and keyof types',
      'type K<T> = { [P in keyof T as `get${Capitalize<P & string>}`]: T[P] extends infer U ? () => U : never }; const k: K<{ a: number }> = { getA: () => 1 }; k.getA()',
      1,
    ],
    [
      'declare, unique symbols and abstract constructors',
      'declare const nowhere: number; declare global { interface Array<T> { mine?: 1 } } declare module "nope" {}\ntype A = abstract new () => object; const s: unique symbol = Symbol("s"); [typeof s, typeof nowhere]',
      ['symbol', 'undefined'],
    ],
    [
      'type-only imports and exports',
      'import type { A } from "./gone"\nimport { type B, type C as D } from "./gone-too"\nexport type { A }\nconst a: A | B | D = 1\na',
      1,
    ],
    [
      'imports that are used as types only',
      'import { Stats } from "node:fs"\nimport { Gone } from "./gone"\nconst a: Stats | Gone = 2 as any\na',
      2,
    ],
    [
      'using and await using with types',
      'await using a: AsyncDisposable = { async [Symbol.asyncDispose]() {} }\nusing b: Disposable & { n: number } = { n: 3, [Symbol.dispose]() {} }\nb.n',
      3,
    ],
    [
      'optional chaining beside definite assignment',
      'let a!: { b?: { c: number } }; a = { b: { c: 1 } }; a?.b!.c',
      1,
    ],
    ['the value of a program that ends with a type', '5; type A = 1; interface B {}', 5],
  ]),
  ...valueOf('Handbook: Modules, CommonJS', [
    ['import x = require()', 'import path = require("node:path")\npath.basename("/a/b")', 'b'],
    ['export =', 'export = { a: 1 }; module.exports.a', 1],
    [
      'top-level await in a module',
      'import { setTimeout as wait } from "node:timers/promises"\nconst a: number = await wait(1, 4)\na',
      4,
    ],
  ]),
])
