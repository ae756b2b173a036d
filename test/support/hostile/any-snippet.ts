/** Random programs that use everything in which two machines could differ: numbers, order, dates, memory. */
import fc from '../fast-check.ts'

const quoted = (text: string): string => JSON.stringify(text)
const literal = fc.oneof(
  fc.double().map((value) => (Object.is(value, -0) ? '-0' : `(${value})`)),
  fc.integer().map((value) => `(${value})`),
  fc.constantFrom(
    'NaN',
    'Infinity',
    '(-Infinity)',
    '(0/0)',
    '(2**53)',
    '5e-324',
    '(-1e-7)',
    'undefined',
    'null',
  ),
  fc.string({ unit: 'grapheme', maxLength: 8 }).map(quoted),
)
const integer = fc.integer({ min: 0, max: 1000 })

/** An expression without side effects. */
const { expression } = fc.letrec<{ expression: string }>((tie) => ({
  expression: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    literal,
    fc
      .tuple(
        tie('expression'),
        fc.constantFrom('+', '-', '*', '/', '%', '<<', '>>>', '^', '<', '==', '&&', '??'),
        tie('expression'),
      )
      .map(([left, operator, right]) => `((${left}) ${operator} (${right}))`),
    fc
      .tuple(fc.constantFrom(...mathFunctions()), tie('expression'), tie('expression'))
      .map(([name, one, other]) => `Math.${name}(${one}, ${other})`),
    tie('expression').map((inner) => `String(${inner}).length`),
    tie('expression').map((inner) => `Number(${inner})`),
    tie('expression').map((inner) => `parseFloat(${inner}).toString(36)`),
  ),
}))

function mathFunctions(): string[] {
  const all = Object.getOwnPropertyNames(Math) as (keyof Math)[]
  return all.filter((name) => typeof Math[name] === 'function' && name !== 'random').map(String)
}

const values = fc.array(expression, { maxLength: 8 }).map((items) => `[${items.join(', ')}]`)
const text = fc.string({ unit: 'binary', maxLength: 24 }).map(quoted)

/** Statements that emit their results. */
const usual = fc.oneof(
  expression.map((code) => `emit(${code})`),
  values.map((list) => `emit(${list}.sort())`),
  values.map((list) => `emit(${list}.sort((a, b) => a - b))`),
  values.map((list) => `emit(${list}.toSorted((a, b) => (a > b ? 1 : -1)).map((x) => typeof x))`),
  values.map((list) => `emit([...new Set(${list})]); emit([...new Map(${list}.map((x, i) => [x, i]))])`),
  values.map(
    (list) =>
      `const o = {}; for (const k of ${list}) o[k] = typeof k; emit(JSON.stringify(o) + Object.keys(o))`,
  ),
  values.map((list) => `emit(JSON.stringify(${list}.map((x) => ({ x, y: [x] })), null, 1))`),
  values.map((list) => `emit(new Uint8Array(new Float64Array(${list}.map(Number)).buffer))`),
  values.map((list) => `emit(new Uint8Array(new Float32Array(${list}.map(Number)).sort().buffer))`),
  values.map((list) => `emit(new Uint8Array(new Float16Array(${list}.map(Number)).buffer))`),
  fc.tuple(expression, integer).map(([code, at]) => {
    const kind = at % 2 ? 'Float64' : 'Float32'
    return `const v = new DataView(new ArrayBuffer(16)); v.set${kind}(${at % 8}, ${code}); emit(new Uint8Array(v.buffer))`
  }),
  fc.array(fc.integer({ min: 0, max: 255 }), { minLength: 8, maxLength: 8 }).map(
    (
      bytes,
    ) => `const b = new Uint8Array([${bytes.join()}, 127, 240]); b[7] = 255; b[6] |= 240; const f = new Float64Array(b.buffer.slice(0, 8))
      f[0] = f[0]; emit(b); emit(new Uint8Array(f.buffer)); emit(new Uint8Array(new Float32Array(f).buffer))`,
  ),
  expression.map((code) => `emit([${code}].map((x) => [typeof x, Object.is(x, NaN), 1 / x, String(x)]))`),
  fc
    .double()
    .map((ms) => `const d = new Date(${ms} * 1e3); emit([+d, d.getDay(), d.getTimezoneOffset(), String(d)])`),
  fc
    .tuple(integer, integer)
    .map(
      ([month, day]) =>
        `const d = new Date(1900 + ${day % 200}, ${month}, ${day}, ${month}); emit(d + d.toLocaleString())`,
    ),
  fc
    .constantFrom(
      '"2020-03-29T02:30:00"',
      '"1 Jan 1999 GMT+5"',
      '"2024-02-30"',
      'Date.now()',
      '"Mar 8, 2020 2:30"',
    )
    .map((date) => `emit(new Date(${date}).getTime() + Date().length)`),
  integer.map((count) => `for (let i = 0; i < ${count % 9}; i++) emit(Math.random() + ' ')`),
  fc
    .double()
    .map(
      (value) => `emit([(${value}).toLocaleString(), (${value}).toPrecision(9), (${value}).toExponential()])`,
    ),
  fc
    .tuple(text, text)
    .map(
      ([one, other]) =>
        `emit([${one}.localeCompare(${other}), ${one}.normalize('NFKD'), ${one}.toUpperCase()])`,
    ),
  text.map(
    (code) => `emit(encodeURIComponent(${code}.toWellFormed()) + escape(${code}) + [...${code}].length)`,
  ),
  fc
    .tuple(text, fc.constantFrom('(\\\\w)(?<n>.)?', '[^a-m]+', '(?=(.))', '\\\\p{L}|\\\\s', '(a|b)*c?'))
    .map(
      ([subject, pattern]) =>
        `emit(JSON.stringify([...${subject}.matchAll(new RegExp("${pattern}", 'gu'))]))`,
    ),
  fc
    .constantFrom(
      'null.x',
      'x',
      'x; let x',
      '[].at(1n)',
      '({}).y()',
      'new Array(-1)',
      '1n / 0n',
      'JSON.parse("[1,}")',
    )
    .map((code) => `try { (function f() { ${code} })() } catch (e) { emit(e.stack + e) }`),
  integer.map(
    (count) => `function* g(n) { while (n--) yield n * Math.random() } emit([...g(${count % 20})].join())`,
  ),
  values.map(
    (list) => `const [a, , ...b] = ${list}, { length, 0: c = a } = ${list}; emit([a, b, length, c])`,
  ),
  fc
    .bigInt({ min: -(2n ** 200n), max: 2n ** 200n })
    .map((n) => `emit([(${n}n) ** 3n, ${n}n % 97n, BigInt.asIntN(64, ${n}n), Number(${n}n)])`),
  expression.map(
    (code) =>
      `const w = new WeakMap(), k = [{}, {}]; k.forEach((o, i) => w.set(o, [i, ${code}])); emit(k.map((o) => w.get(o)))`,
  ),
  integer.map(
    (n) =>
      `emit(Object.entries(Object.groupBy(Array(${n % 50}).keys(), (i) => 'k' + Math.sin(i * ${n}).toFixed(1))))`,
  ),
  values.map((list) => `throw Object.assign(new RangeError(${list}), { name: String(${list}[0]) })`),
)

/** Statements that exhaust the engine's stack or memory. */
const atTheEnd = fc.oneof(
  integer.map(
    (n) => `function f(a) { try { return f(a + 1, ${n}) } catch (e) { return a + String(e) } } emit(f(0))`,
  ),
  fc
    .constantFrom(
      '{ toString() { d++; return String(this) } }',
      '{ get x() { d++; return this.x } }',
      'new Proxy({}, { get(t, k, p) { d++; return p[k] } })',
    )
    .map(
      (target) =>
        `let d = 0; const o = ${target}; try { String(o.x ?? o) } catch (e) { emit(d + String(e)) }`,
    ),
  fc
    .constantFrom(
      '{}',
      '[1, 2]',
      'new Map()',
      'new Uint8Array(999)',
      '"x".repeat(999) + n',
      '() => n',
      'Symbol(n)',
      'new Error(n)',
      '2n ** 9999n',
    )
    .map(
      (item) =>
        `const hold = []; let n = 0; try { for (;; n++) hold.push(${item}) } catch (e) { hold.length = 0; emit(n + String(e)) }`,
    ),
  integer.map(
    (n) =>
      `let s = 'x${n}'; let n = 0; try { for (;; n++) s += s } catch (e) { s = ''; emit(n + String(e)) }`,
  ),
)

export const anySnippet: fc.Arbitrary<string> = fc
  .array(fc.oneof({ weight: 80, arbitrary: usual }, { weight: 1, arbitrary: atTheEnd }), {
    minLength: 1,
    maxLength: 4,
  })
  .map((statements) => statements.map((code) => `{ ${code} }`).join('\n'))
