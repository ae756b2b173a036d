/** Values of JavaScript programs that lie, throw, grow or patch the realm. Each runs in Bun and in Node. */
import { anything, type HostileRow, nothing, resultBytes, shown, tooLarge } from './hostile-value.ts'

const cut = { isCut: true }
const timedOut = { outcome: 'timed-out' } as const
const traps = [
  'get',
  'has',
  'ownKeys',
  'getOwnPropertyDescriptor',
  'getPrototypeOf',
  'isExtensible',
  'defineProperty',
]
const self: { self?: unknown } = {}
self.self = self

const shapes: readonly HostileRow[] = [
  ['an array in itself', 'const a = []; a.push(a); [a[0] === a, a.length]', [true, 1]],
  ['an object in itself', 'const o = {}; o.self = o; o', self],
  ['a Map that is its own key', 'const m = new Map(); m.set(m, m); m', anything],
  ['a Set in itself', 'const s = new Set(); s.add(s); s', anything],
  ['an error that causes itself', 'const e = new Error("e"); e.cause = e; e', anything],
  ['an array 100,000 deep', 'let d = []; for (let i = 0; i < 1e5; i++) d = [d]; d', anything, cut],
  ['a Map 100,000 deep', 'let d = 1; for (let i = 0; i < 1e5; i++) d = new Map([[d, d]]); d', anything, cut],
  [
    'errors 100,000 deep',
    'let d; for (let i = 0; i < 1e5; i++) d = new Error("e", { cause: d }); d',
    anything,
    cut,
  ],
  ['an array exactly as deep as may be', 'let d = 0; for (let i = 0; i < 1001; i++) d = [d]; d', anything],
  ['an array one level too deep', 'let d = 0; for (let i = 0; i < 1002; i++) d = [d]; d', anything, cut],
  ['a date on the last level', 'let d = new Date(0); for (let i = 0; i < 1001; i++) d = [d]; d', anything],
  ['NaN on the last level', 'let d = NaN; for (let i = 0; i < 1001; i++) d = { d }; d', anything],
  [
    'an object of 100,000 keys',
    'Object.keys(Object.fromEntries(Array.from({ length: 1e5 }, (_, i) => ["k" + i, i]))).length',
    100_000,
  ],
  ['250,000 numbers', 'Array(250_000).fill(1)', anything],
  ['1,000,000 numbers', 'Array(1e6).fill(1)', tooLarge, cut],
  ['a thousand million holes', 'new Array(1e9)', tooLarge, cut],
  [
    'an exponential tree of shared arrays',
    'let d = []; for (let i = 0; i < 900; i++) d = [d, d]; d',
    anything,
  ],
  ['a text of the largest size', `"x".repeat(${resultBytes - 2})`, anything],
  ['a text one byte longer', `"x".repeat(${resultBytes - 1})`, tooLarge, cut],
  ['a text whose escapes make it too long', '"\\0".repeat(200_000)', tooLarge, cut],
  ['a text whose bytes make it too long', '"é".repeat(600_000)', tooLarge, cut],
  ['lone surrogates that escapes make too long', '"\\ud800".repeat(200_000)', tooLarge, cut],
  ['too many bytes', `new Uint8Array(${resultBytes})`, tooLarge, cut],
  ['a key of 2 MB', '({ ["k".repeat(2e6)]: 1 })', tooLarge, cut],
  ['an integer of a million digits', '10n ** 1000000n', 10n ** 1_000_000n],
  ['an integer too long', '1n << 5000000n', tooLarge, cut],
  ['a Symbol with a long description', 'Symbol("s".repeat(1e6))', shown(`Symbol(${'s'.repeat(1017)}`)],
  [
    'a function with a long name',
    'Object.defineProperty(() => {}, "name", { value: "n".repeat(1e6) })',
    shown(`[Function: ${'n'.repeat(1013)}`),
  ],
]

const getters: readonly HostileRow[] = [
  ['a getter that throws', '({ get a() { throw new Error("no") } })', { a: shown('[getter threw: no]') }],
  ['a getter that throws null', '({ get a() { throw null } })', { a: shown('[getter threw: null]') }],
  [
    'a getter that throws what cannot be shown',
    '({ get a() { throw { get message() { throw 1 }, toString() { throw 2 } } } })',
    anything,
  ],
  ['a getter that never returns', '({ get a() { for (;;) {} } })', nothing, timedOut],
  ['a getter that gives a new object each time', '({ get a() { return { a: 1 } } })', { a: { a: 1 } }],
  [
    'a getter that grows its own object',
    'const o = { get a() { o["b" + Object.keys(o).length] = 1; return 1 } }; o',
    { a: 1 },
  ],
  [
    'a getter without end, object in object',
    'const f = () => ({ get a() { return f() } }); f()',
    anything,
    cut,
  ],
  [
    'a getter for the message of an error',
    'Object.defineProperty(new Error("m"), "message", { get() { throw 1 } })',
    anything,
  ],
  [
    'a getter for the stack of an error',
    'Object.defineProperty(new Error("m"), "stack", { get() { throw 1 } })',
    anything,
  ],
  [
    'a getter on an index',
    'Object.defineProperty([1, 2], 0, { get() { throw new Error("i") } })',
    [shown('[getter threw: i]'), 2],
  ],
  [
    'an array that shrinks while it is read',
    'const a = [1, 2, 3]; Object.defineProperty(a, 0, { get() { a.length = 1; return 0 } }); a',
    anything,
  ],
  [
    'an array that grows while it is read',
    'const a = [1]; Object.defineProperty(a, 0, { get() { a.push(1); return 0 } }); a',
    anything,
  ],
  [
    'a Map that grows while it is read',
    'const m = new Map(); m.set({ get a() { m.set({}, 1); return 1 } }, 1); m',
    anything,
  ],
  [
    'a Set that grows without end while it is read',
    'const s = new Set(); const f = () => ({ get a() { s.add(f()); return 1 } }); s.add(f()); s',
    // It arrives in the state in which the encoder began to read it.
    new Set([{ a: 1 }]),
  ],
  ['a toJSON that throws', '({ toJSON() { throw 1 } })', { toJSON: shown('[Function: toJSON]') }],
  [
    'a date whose toJSON and toISOString lie',
    'const d = new Date(0); d.toJSON = d.toISOString = () => "x"; d',
    new Date(0),
  ],
  [
    'a RegExp whose source is long and whose flags lie',
    'const r = /a/; Object.defineProperty(r, "source", { value: "(".repeat(9) }); Object.defineProperty(r, "flags", { value: 5 }); r',
    anything,
  ],
  ['an error with a name that is no text', 'Object.assign(new Error("m"), { name: { a: 1 } })', anything],
  ['an error with errors that are no list', 'Object.assign(new Error("m"), { errors: "x" })', anything],
  [
    'an error whose own keys are those of its tag',
    'Object.assign(new Error("m"), { $type: "Map", value: 1, properties: { a: 1 } })',
    anything,
  ],
  ['a thenable that resolves to itself', 'const t = { then(f) { f(t) } }; [t]', anything],
  [
    'an own key __proto__',
    'JSON.parse(`{"__proto__":{"polluted":1}}`)',
    JSON.parse('{"__proto__":{"polluted":1}}'),
  ],
  ['an object whose prototype is a proxy', '[Object.create(new Proxy({}, { get() { throw 1 } }))]', anything],
  [
    'own keys constructor and prototype',
    '({ constructor: { prototype: { polluted: 1 } } })',
    { constructor: { prototype: { polluted: 1 } } },
  ],
  ['an object of 1,000,000 symbols', 'const o = {}; for (let i = 0; i < 1e5; i++) o[Symbol(i)] = i; o', {}],
  ['a length that lies', '({ length: 2 ** 53, 0: 1 })', { 0: 1, length: 2 ** 53 }],
  [
    'an object that says it is an array',
    'Object.setPrototypeOf({ length: 3 }, Array.prototype)',
    { length: 3 },
  ],
  ['an array that says it is an object', 'Object.setPrototypeOf([1], null)', [1]],
  ['a function with fields', 'Object.assign(function f() {}, { a: 1 })', shown('[Function: f]')],
  [
    'an object with the tag of a date',
    '({ $type: "Date", value: "2026-01-31T00:00:00.000Z" })',
    { $type: 'Date', value: '2026-01-31T00:00:00.000Z' },
  ],
  ['a getter called $type', '({ get $type() { return "Ref" }, path: [] })', { $type: 'Ref', path: [] }],
]

const proxies: readonly HostileRow[] = [
  ...traps.map((trap): HostileRow => [
    `a proxy whose trap ${trap} throws`,
    `[new Proxy({ a: 1 }, { ${trap}() { throw new Error("t") } })]`,
    anything,
  ]),
  ...traps
    .slice(0, 5)
    .map((trap): HostileRow => [
      `a proxy of an array whose trap ${trap} throws`,
      `[new Proxy([1], { ${trap}() { throw new Error("t") } })]`,
      anything,
    ]),
  ['a proxy whose trap never returns', 'new Proxy({}, { ownKeys() { for (;;) {} } })', nothing, timedOut],
  ['a revoked proxy', 'const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); [proxy]', anything],
  [
    'a revoked proxy of an array',
    'const { proxy, revoke } = Proxy.revocable([], {}); revoke(); [proxy]',
    anything,
  ],
  [
    'a proxy of an array whose length has no end',
    'new Proxy([], { get: (t, k) => k === "length" ? Infinity : 1 })',
    tooLarge,
    cut,
  ],
  [
    'a proxy of an array whose length is no number',
    'new Proxy([], { get: () => "x" })',
    shown('[array without a length]'),
  ],
  [
    'a proxy of an array whose length is negative',
    'new Proxy([1], { get: (t, k) => k === "length" ? -5 : 1 })',
    [],
  ],
  ['a proxy that has every key', 'new Proxy({}, { get: () => "x", has: () => true })', anything],
  [
    'a proxy with new objects on every path',
    'const f = () => new Proxy({ a: 1 }, { get: () => f() }); f()',
    anything,
    cut,
  ],
  ['a proxy of a Map', 'new Proxy(new Map([[1, 2]]), {})', anything],
  ['a proxy of a date', 'new Proxy(new Date(0), {})', anything],
  ['a proxy of bytes', 'new Proxy(new Uint8Array(3), {})', anything],
  [
    'a proxy of a function',
    '[new Proxy(function f() {}, { get() { throw 1 }, getOwnPropertyDescriptor() { throw 2 } })]',
    [shown('[Function]')],
  ],
  ['a proxy of an error', '[new Proxy(new Error("e"), { get() { throw new Error("t") } })]', anything],
  [
    'a proxy of a proxy, 10,000 times',
    'let p = { a: 1 }; for (let i = 0; i < 10000; i++) p = new Proxy(p, {}); [p]',
    anything,
  ],
]

const sound =
  '({ list: [1, "é", 2n], map: new Map([[1, new Set([2])]]), at: new Date(0), bytes: new Uint8Array([1]) })'
const soundValue = {
  list: [1, 'é', 2n],
  map: new Map([[1, new Set([2])]]),
  at: new Date(0),
  bytes: new Uint8Array([1]),
}
const patch = (title: string, code: string): HostileRow => [
  title,
  `const made = ${sound}\n{ ${code} }\nmade`,
  soundValue,
]

const patched: readonly HostileRow[] = [
  patch(
    'Array.prototype.map, push, join and their like',
    'for (const key of Object.getOwnPropertyNames(Array.prototype)) if (key !== "constructor" && key !== "length") Array.prototype[key] = () => { throw 1 }',
  ),
  patch(
    'setters on Object.prototype',
    'for (const key of ["path", "step", "depth", "json", "text", "parent", "value"]) Object.defineProperty(Object.prototype, key, { set() { throw 1 }, get() { throw 2 }, configurable: true })',
  ),
  patch(
    'toJSON of everything',
    'Object.prototype.toJSON = String.prototype.toJSON = BigInt.prototype.toJSON = () => "forged"',
  ),
  patch(
    'Symbol.toStringTag',
    'Object.defineProperty(Object.prototype, Symbol.toStringTag, { get() { throw 1 }, configurable: true })',
  ),
  patch(
    'Symbol.iterator',
    'for (const { prototype } of [Array, Map, Set, String]) prototype[Symbol.iterator] = () => { throw 1 }',
  ),
  patch(
    'Symbol.hasInstance',
    'for (const Kind of [Map, Set, Date, Error, Array]) Object.defineProperty(Kind, Symbol.hasInstance, { value: () => { throw 1 } })',
  ),
  patch(
    'Symbol.toPrimitive',
    'for (const { prototype } of [Date, Symbol]) Object.defineProperty(prototype, Symbol.toPrimitive, { value: () => { throw 1 } })',
  ),
  patch(
    'Date',
    'Date.prototype.getTime = Date.prototype.toISOString = Date.prototype.valueOf = () => { throw 1 }; globalThis.Date = null',
  ),
  patch(
    'String and RegExp',
    'String.prototype.slice = String.prototype.charCodeAt = RegExp.prototype.exec = () => { throw 1 }; globalThis.String = null',
  ),
  patch(
    'Map and Set',
    'for (const Kind of [Map, Set]) for (const key of ["get", "set", "has", "add", "forEach", "entries"]) Kind.prototype[key] = () => { throw 1 }; globalThis.Map = null',
  ),
  patch(
    'Object and Reflect',
    'for (const key of ["keys", "hasOwn", "getPrototypeOf", "getOwnPropertyDescriptor"]) Object[key] = () => { throw 1 }; globalThis.Reflect = null',
  ),
  patch(
    'JSON and TextEncoder',
    'JSON.stringify = () => "{}"; TextEncoder.prototype.encode = () => new Uint8Array(9)',
  ),
  patch(
    'typed arrays',
    'const t = Object.getPrototypeOf(Uint8Array.prototype); for (const key of ["buffer", "byteOffset", "byteLength", "length", Symbol.toStringTag]) Object.defineProperty(t, key, { get() { throw 1 } })',
  ),
  patch(
    'Buffer',
    'Buffer.prototype.toString = Buffer.prototype.base64Slice = Buffer.from = () => { throw 1 }',
  ),
  patch(
    'the prototype of Object.prototype’s methods',
    'for (const key of ["hasOwnProperty", "isPrototypeOf", "toString", "valueOf"]) Object.prototype[key] = () => { throw 1 }',
  ),
  patch(
    'frozen prototypes',
    'for (const Kind of [Object, Array, Map, Set, Error, String]) Object.freeze(Kind.prototype)',
  ),
  [
    'Error.prepareStackTrace that throws',
    'Error.prepareStackTrace = () => { throw 1 }; [new Error("e").message]',
    ['e'],
  ],
  ['a JSON frame in a text', String.raw`'","truncated":true,"value":1}'`, '","truncated":true,"value":1}'],
]

export const javascriptValues = { shapes, getters, proxies, patched }
