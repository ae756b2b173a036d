/** The language reference: expressions, literals and the value of a program. */
import { type PythonCase, bytes, tuple } from './case.ts'

export const expressions: readonly PythonCase[] = [
  { feature: 'the last expression statement', code: 'x = 20\nx + 1\nx + 22', value: 42 },
  { feature: 'a comment after the last expression', code: '1 + 1  # two; really\n# the end\n', value: 2 },
  { feature: 'a semicolon that silences the value', code: '1 + 1;' },
  { feature: 'the last of several statements on a line', code: 'a = 1; b = 2; a + b', value: 3 },
  { feature: 'an expression over several lines', code: '(\n  1\n  + 1  # one more\n)', value: 2 },
  { feature: 'a conditional expression', code: '"even" if 4 % 2 == 0 else "odd"', value: 'even' },
  {
    feature: 'comparison chaining',
    code: '[1 < 2 < 3, 1 < 3 < 2, 1 < 2 > 0 != 5]',
    value: [true, false, true],
  },
  {
    feature: 'the assignment expression',
    code: 'data = [1, 2, 3]\n[n, data] if (n := len(data)) > 2 else None',
    value: [3, [1, 2, 3]],
  },
  {
    feature: 'integer division and modulo of negative numbers',
    code: '[-7 // 2, -7 % 2, divmod(-7, 2), 7 % -2]',
    value: [-4, 1, tuple(-4, 1), -1],
  },
  {
    feature: 'integers without bound',
    code: '2 ** 100',
    value: { $type: 'BigInt', value: '1267650600228229401496703205376' },
  },
  {
    feature: 'integer literals',
    code: '[0xff, 0o17, 0b101, 1_000_000]',
    value: [255, 15, 5, 1_000_000],
  },
  {
    feature: 'float literals and their shortest text',
    code: '[0.1 + 0.2, 1e16, str(1e16), repr(1e22), float("1e-5")]',
    value: [0.30000000000000004, 1e16, '1e+16', '1e+22', 1e-5],
  },
  {
    feature: 'special floats',
    code: '[float("nan"), float("-inf"), -0.0]',
    value: [{ $type: 'NaN' }, { $type: '-Infinity' }, { $type: '-0' }],
  },
  {
    feature: 'complex numbers',
    code: '(1 + 2j) * (3 - 1j)',
    value: { $type: 'complex', real: 5, imag: 5 },
  },
  {
    feature: 'string literals',
    code: String.raw`["\x41\u00e9\N{BULLET}\U0001F600", r"\n", 'it''s', """a
b"""]`,
    value: ['Aé•😀', '\\n', 'its', 'a\nb'],
  },
  { feature: 'bytes literals', code: String.raw`b"\x00\xffa"`, value: bytes('\u0000\u00ffa') },
  {
    feature: 'formatted string literals',
    code: 'name, pi = "Ada", 3.14159\n[f"{name!r:>8}", f"{pi:.2f}", f"{pi=:.1f}", f"{{}}", f"{10:#06x}"]',
    value: ["   'Ada'", '3.14', 'pi=3.1', '{}', '0x000a'],
  },
  {
    feature: 'the format specification language',
    code: '[format(1234567.891, ",.1f"), format(0.25, "%"), format(255, "b"), "{:*^7}".format("mid"), format(-5, "+d")]',
    value: ['1,234,567.9', '25.000000%', '11111111', '**mid**', '-5'],
  },
  { feature: 'printf-style formatting', code: '"%05d %-4s|%x" % (42, "ab", 255)', value: '00042 ab  |ff' },
  {
    feature: 'slices and extended slices',
    code: 's = "abcdef"\n[s[1:4], s[::-1], s[-2:], s[::2], [1, 2, 3][:-1]]',
    value: ['bcd', 'fedcba', 'ef', 'ace', [1, 2]],
  },
  {
    feature: 'comprehensions',
    code: '[[x * y for x in range(3) for y in range(2) if x != y], {k: v for k, v in zip("ab", [1, 2])}, sorted({c for c in "aab"})]',
    value: [[0, 0, 0, 2], { a: 1, b: 2 }, ['a', 'b']],
  },
  { feature: 'a generator expression', code: 'sum(x * x for x in range(10))', value: 285 },
  {
    feature: 'lambda expressions with defaults',
    code: '[f(1) for f in (lambda x, y=1: x + y, lambda *a: len(a))]',
    value: [2, 1],
  },
  {
    feature: 'unpacking in displays and calls',
    code: 'def f(*a, **k):\n    return [list(a), k]\n\n[[*range(2), *"ab"], {**{"x": 1}, "y": 2}, f(*[1], *[2], **{"z": 3})]',
    value: [[0, 1, 'a', 'b'], { x: 1, y: 2 }, [[1, 2], { z: 3 }]],
  },
  {
    feature: 'short-circuit evaluation',
    code: 'def boom():\n    raise RuntimeError\n\n[0 or "default", 1 or boom(), None and boom()]',
    value: ['default', 1, null],
  },
  {
    feature: 'the merge operators of dict',
    since: [3, 9],
    code: 'd = {"a": 1} | {"b": 2}\nd |= {"a": 3}\nd',
    value: { a: 3, b: 2 },
  },
  { feature: 'Ellipsis and None', code: '[... is Ellipsis, None, not None]', value: [true, null, true] },
  {
    feature: 'the limit for converting long integers to text',
    since: [3, 11],
    code: 'str(10 ** 5000)',
    exitCode: 1,
    stderr: /ValueError: Exceeds the limit \(4300 digits\) for integer string conversion/,
    error: { name: 'ValueError', message: /4300 digits/, line: 1 },
  },
]
