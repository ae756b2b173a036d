/** Programs for isolates that allocate all memory, or never end. */
const keep = (made: string): string => `const kept = []; for (let i = 0; ; i++) kept.push(${made})`

export const bombs: Readonly<Record<string, string>> = {
  arrays: keep('[1, 2, 3, 4, 5, 6, 7, 8]'),
  'large arrays': keep('new Array(1e6).fill(i)'),
  'one filled array': 'Array(3e7).fill().map((_, i) => ({ i }))',
  strings: keep('("x" + i).repeat(1e5).toUpperCase()'),
  'padded strings': keep('"x".padStart(1e7, "y" + i).toUpperCase()'),
  'template strings':
    'let s = "x"; const kept = []; for (;;) { s = `${s}y`; kept.push(`${s.repeat(1e4)}`.toUpperCase()) }',
  'normalized strings': keep('"\\u1E9B\\u0323".repeat(1e6).normalize("NFKD")'),
  'a string that grows while it is normalized': '"\\uFDFA".repeat(2e7).normalize("NFKD").length',
  'one array buffer': 'new ArrayBuffer(500e6)',
  'array buffers': keep('new ArrayBuffer(10e6)'),
  'a buffer of a buffer': 'const a = new ArrayBuffer(60e6); const kept = []; for (;;) kept.push(a.slice(0))',
  'a transferred buffer': 'new ArrayBuffer(8).transfer(500e6)',
  'one typed array': 'new Uint8Array(500e6)',
  'one typed array of doubles': 'new Float64Array(100e6)',
  'a typed array of a list': 'Uint8Array.from({ length: 500e6 })',
  'copies of typed arrays':
    'const a = new Uint8Array(60e6); const kept = []; for (;;) kept.push(a.map((n) => n))',
  'sorted typed arrays':
    'const a = new Uint8Array(30e6); const kept = []; for (;;) kept.push(a.toReversed())',
  'a subclass of array buffers': 'class Big extends ArrayBuffer {}; new Big(500e6)',
  'a map': 'const m = new Map(); for (let i = 0; ; i++) m.set(i, { i })',
  'matches of a pattern': keep('[..."a".repeat(1e5).matchAll(/a/g)]'),
  'what a pattern replaces': keep('"ab".repeat(1e5 + i).replace(/a/g, "xyz")'),
  'big integers': keep('(1n << 1000000n) + BigInt(i)'),
  'texts of JSON': keep('JSON.stringify({ a: "x".repeat(1e6 + i) })'),
  'objects of JSON': keep('JSON.parse("[" + "{},".repeat(1e5) + "1]")'),
  closures: 'let f = () => 0; for (;;) { const g = f, x = new Array(100); f = () => g() + x.length }',
  promises: keep('new Promise(() => {})'),
  'microtasks that never end': 'const kept = []; for (;;) { await 0; kept.push(new Array(1000).fill(0)) }',
}

/** None of them ends by itself. */
export const loops: Readonly<Record<string, string>> = {
  'a loop': 'for (;;);',
  'a loop that does something': 'let n = 0; while (true) { n = Math.sqrt(n + 1) }',
  'a loop that catches everything': 'for (;;) { try { for (;;); } catch {} finally { for (;;); } }',
  recursion: 'const f = () => { try { f() } finally { f() } }; f()',
  'a pattern that tries everything': '/^(a+)+$/.test("a".repeat(50) + "b")',
  microtasks: 'for (;;) await 0',
  'microtasks that make more': 'const f = () => Promise.resolve().then(f).then(f); await f()',
  'a getter while output is read': 'output = { get a() { for (;;); } }',
  'toJSON while output is read': 'output = { toJSON() { for (;;); } }',
  'a proxy while output is read': 'output = new Proxy({}, { ownKeys() { for (;;); } })',
  'a log that never ends to be written':
    'console.log({ get a() { for (;;); }, [Symbol.toStringTag]: "x" }); for (;;);',
  'a thenable': 'await { then() { for (;;); } }',
  'a generator': 'function* f() { for (;;) yield 1 }; for (const a of f());',
  'one long call of the engine':
    'new Array(2 ** 31).indexOf(1); "a".repeat(2 ** 28).split("").sort(); for (;;);',
  'a big number': 'let n = 3n; for (;;) n = (n * n) % (1n << 200000n)',
  'a library': "const _ = require('lodash'); _.times(Number.MAX_SAFE_INTEGER, () => 0)",
  'sorting by a function': 'for (;;) [3, 1, 2].sort(() => { for (;;); })',
}
