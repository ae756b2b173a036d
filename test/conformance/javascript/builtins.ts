/** ECMA-262, chapters 19 to 28, and ECMA-402: the library of the language. */
import { type ConformanceProgram, valueOf } from './program.ts'

const wasmAdd =
  'const bytes = Uint8Array.from([0,97,115,109,1,0,0,0,1,7,1,96,2,127,127,1,127,3,2,1,0,7,7,1,3,97,100,100,0,0,10,9,1,7,0,32,0,32,1,106,11]);\n'

export const builtins: readonly ConformanceProgram[] = [
  ...valueOf('ECMA-262 19 to 22 Global object, numbers, dates, text', [
    ['indirect eval and new Function', '[(0, eval)("1 + 1"), new Function("a", "return a * 2")(4)]', [2, 8]],
    [
      'globalThis, and a var that is no property of it',
      'var own = 3; [globalThis.own, typeof globalThis.Map]',
      [undefined, 'function'],
    ],
    [
      'symbols',
      'const s = Symbol("d"); [s.description, Symbol.for("k") === Symbol.for("k"), Symbol.keyFor(Symbol.for("k"))]',
      ['d', true, 'k'],
    ],
    [
      'numbers at their edges',
      '[0.1 + 0.2, Number.MAX_SAFE_INTEGER, -0, NaN, Infinity, (25).toString(36), Number("0x1f"), parseInt("12px")]',
      [0.30000000000000004, 9007199254740991, -0, NaN, Infinity, 'p', 31, 12],
    ],
    [
      'BigInt',
      '[10n ** 20n, BigInt.asUintN(8, 257n), -7n / 2n, 2n > 1]',
      [100000000000000000000n, 1n, -3n, true],
    ],
    [
      'Math',
      '[Math.hypot(3, 4), Math.clz32(1), Math.fround(5.5), Math.trunc(-4.7), Math.sign(-3), Math.cbrt(27)]',
      [5, 31, 5.5, -4, -1, 3],
    ],
    ['dates in UTC', 'new Date(2024, 1, 29, 12).toISOString()', '2024-02-29T12:00:00.000Z'],
    ['a Date as the value', 'new Date(Date.UTC(2020, 0, 1))', new Date('2020-01-01T00:00:00Z')],
    [
      'text: at, padStart, replaceAll, matchAll, normalize, isWellFormed',
      '["abc".at(-1), "5".padStart(3, "0"), "a-b-c".replaceAll("-", "+"), [..."a1b2".matchAll(/\\d/g)].map((m) => m.index), "e\\u0301".normalize().length, "\\ud800".isWellFormed()]',
      ['c', '005', 'a+b+c', [1, 3], 1, false],
    ],
    [
      'regular expressions: named groups, lookbehind, sticky, unicode sets',
      '[/(?<y>\\d{4})/.exec("in 2024").groups.y, "a1b".replace(/(?<=a)\\d/, "x"), /b/y.test("ab"), /[\\p{L}--[a-z]]/v.test("a")]',
      ['2024', 'axb', false, false],
    ],
    [
      'regular expressions: indices and flags inside a group',
      '[/b(c)/d.exec("abc").indices, /(?i:A)b/.test("ab")]',
      [
        [
          [1, 3],
          [2, 3],
        ],
        true,
      ],
    ],
    ['a RegExp as the value', '/a+/gi', /a+/gi],
  ]),
  ...valueOf('ECMA-262 23 to 25 Collections, buffers and JSON', [
    [
      'arrays that are copied when changed',
      'const a = [3, 1, 2]; [a.toSorted(), a.with(0, 9), a.toReversed(), a.toSpliced(0, 1), a]',
      [
        [1, 2, 3],
        [9, 1, 2],
        [2, 1, 3],
        [1, 2],
        [3, 1, 2],
      ],
    ],
    [
      'findLast, flatMap, at, copyWithin and holes',
      '[[1, 2, 3].findLast((x) => x < 3), [[1], [2]].flatMap((x) => x), [1, 2].at(-1), [1, 2, 3].copyWithin(0, 1), 1 in [0, , 2]]',
      [2, [1, 2], 2, [2, 3, 3], false],
    ],
    [
      'Object.groupBy and Map.groupBy',
      '[{ ...Object.groupBy([1, 2, 3], (x) => (x % 2 ? "odd" : "even")) }, Map.groupBy([1, 2], (x) => x).size]',
      [{ odd: [1, 3], even: [2] }, 2],
    ],
    ['Array.fromAsync', 'await Array.fromAsync((async function* () { yield 1; yield 2 })())', [1, 2]],
    ['Map and Set as values', 'new Map([["a", new Set([1, 2])]])', new Map([['a', new Set([1, 2])]])],
    ['set methods', '[...new Set([1, 2, 3]).intersection(new Set([2, 3, 4]))]', [2, 3]],
    [
      'WeakMap, WeakRef and private data',
      'const k = {}; const w = new WeakMap([[k, 1]]); [w.get(k), new WeakRef(k).deref() === k]',
      [1, true],
    ],
    [
      'typed arrays over one buffer',
      'const b = new ArrayBuffer(4); new DataView(b).setUint16(0, 258); [...new Uint8Array(b)]',
      [1, 2, 0, 0],
    ],
    [
      'a resized and a transferred buffer',
      'const b = new ArrayBuffer(2, { maxByteLength: 8 }); b.resize(8); const c = b.transfer(); [b.detached, c.byteLength]',
      [true, 8],
    ],
    ['Float32Array as the value', 'Float32Array.of(1, 2.5)', Float32Array.of(1, 2.5)],
    [
      'Atomics on shared memory',
      'const a = new Int32Array(new SharedArrayBuffer(4)); Atomics.add(a, 0, 5); Atomics.load(a, 0)',
      5,
    ],
    [
      'JSON with a reviver and a replacer',
      '[JSON.parse("[1,2]", (k, v) => (typeof v === "number" ? v + 1 : v)), JSON.stringify({ a: 1, b: undefined, c: [undefined] }, null, 1), JSON.stringify({ a: 1, b: 2 }, ["b"])]',
      [[2, 3], '{\n "a": 1,\n "c": [\n  null\n ]\n}', '{"b":2}'],
    ],
    [
      'a cycle as the value',
      'const a = { name: "a" }; a.self = a; const { self } = a; self === a && Object.keys(a).length',
      2,
    ],
  ]),
  ...valueOf('ECMA-262 26 to 28 Proxies, Reflect, iterators', [
    [
      'a proxy with traps',
      'const log = []; const p = new Proxy({}, { get: (t, k) => (log.push(String(k)), 1), has: () => true }); [p.x, "y" in p, log]',
      [1, true, ['x']],
    ],
    [
      'Reflect',
      '[Reflect.ownKeys({ a: 1, [Symbol.iterator]: 2 }).length, Reflect.construct(Date, [0]).getTime(), Reflect.has({ a: 1 }, "a")]',
      [2, 0, true],
    ],
    [
      'error causes and AggregateError',
      'const e = new Error("a", { cause: new TypeError("b") }); [e.cause.name, new AggregateError([1, 2], "m").errors]',
      ['TypeError', [1, 2]],
    ],
    [
      'structuredClone of what JSON cannot hold',
      'const a = { d: new Date(0), m: new Map([[1, new Set([2])]]), u: new Uint8Array([1]) }; a.me = a; const c = structuredClone(a); [c.me === c, c.d.getTime(), c.m.get(1).has(2), c.u[0]]',
      [true, 0, true, 1],
    ],
    [
      'FinalizationRegistry and queueMicrotask',
      '[typeof new FinalizationRegistry(() => {}).register, await new Promise((r) => queueMicrotask(() => r(1)))]',
      ['function', 1],
    ],
  ]),
  ...valueOf('ECMA-402 Internationalization', [
    [
      'numbers and currencies of a locale',
      '[new Intl.NumberFormat("de-DE", { style: "currency", currency: "EUR" }).format(1234.5).replace(/\\s/g, " "), (1234.5).toLocaleString("en-US")]',
      ['1.234,50 €', '1,234.5'],
    ],
    [
      'dates of a locale and time zone',
      'new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeZone: "Asia/Tokyo" }).format(new Date(Date.UTC(2024, 0, 31, 20)))',
      '1 February 2024',
    ],
    [
      'plurals, lists and collation',
      '[new Intl.PluralRules("en", { type: "ordinal" }).select(22), new Intl.ListFormat("en").format(["a", "b", "c"]), ["ä", "z", "a"].toSorted(new Intl.Collator("de").compare)]',
      ['two', 'a, b, and c', ['a', 'ä', 'z']],
    ],
    [
      'segments',
      '[...new Intl.Segmenter("en", { granularity: "word" }).segment("Hi you")].filter((s) => s.isWordLike).map((s) => s.segment)',
      ['Hi', 'you'],
    ],
    ['the time zone of the guest', 'Intl.DateTimeFormat().resolvedOptions().timeZone', 'UTC'],
  ]),
  ...valueOf('WebAssembly JavaScript Interface', [
    [
      'a module that is compiled and called',
      `${wasmAdd}const { instance } = await WebAssembly.instantiate(bytes); instance.exports.add(2, 40)`,
      42,
    ],
    [
      'validation and memory',
      `${wasmAdd}[WebAssembly.validate(bytes), WebAssembly.validate(new Uint8Array(4)), new WebAssembly.Memory({ initial: 1 }).buffer.byteLength]`,
      [true, false, 65536],
    ],
  ]),
]
