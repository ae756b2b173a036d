/** The encoding of Python values: the tags of docs/guide/values.md, the REPL's text, the bounds. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { evaluate, valueOf } from './expect-guest.ts'
import { runGuest } from './guest-process.ts'

const plain: readonly (readonly [code: string, value: unknown, text: string])[] = [
  ['1 + 1', 2, '2'],
  ['True', true, 'True'],
  ['-2.5', -2.5, '-2.5'],
  ['1e300 * 10', 1e301, '1e+301'],
  ['2**53 - 1', Number.MAX_SAFE_INTEGER, '9007199254740991'],
  ['"a\\"é😀\\n"', 'a"é😀\n', `'a"é😀\\n'`],
  ['"long " * 1000', 'long '.repeat(1000), `'${'long '.repeat(1000)}'`],
  ['[]', [], '[]'],
  ['{}', {}, '{}'],
  ['[None, [1, "a"]]', [null, [1, 'a']], "[None, [1, 'a']]"],
  ['{"a": {"b": [1]}, "c": 2}', { a: { b: [1] }, c: 2 }, "{'a': {'b': [1]}, 'c': 2}"],
]

const tagged: readonly (readonly [code: string, value: unknown])[] = [
  ['float("nan")', { $type: 'NaN' }],
  ['float("inf")', { $type: 'Infinity' }],
  ['float("-inf")', { $type: '-Infinity' }],
  ['-0.0', { $type: '-0' }],
  ['2**53', { $type: 'BigInt', value: '9007199254740992' }],
  ['-2**70', { $type: 'BigInt', value: '-1180591620717411303424' }],
  ['-16**5000', { $type: 'BigInt', value: `-0x1${'0'.repeat(5000)}` }],
  ['(1, (2,))', { $type: 'tuple', value: [1, { $type: 'tuple', value: [2] }] }],
  ['()', { $type: 'tuple', value: [] }],
  ['{1}', { $type: 'set', value: [1] }],
  ['frozenset(["a"])', { $type: 'frozenset', value: ['a'] }],
  ['b"\\x00\\xff"', { $type: 'bytes', value: 'AP8=' }],
  ['bytearray(b"abc")', { $type: 'bytearray', value: 'YWJj' }],
  ['1 - 2.5j', { $type: 'complex', real: 1, imag: -2.5 }],
  ['complex(float("inf"), -0.0)', { $type: 'complex', real: { $type: 'Infinity' }, imag: { $type: '-0' } }],
  [
    '{1: "a", (2,): None}',
    {
      $type: 'Map',
      value: [
        [1, 'a'],
        [{ $type: 'tuple', value: [2] }, null],
      ],
    },
  ],
  [
    '{"$type": "mine", "x": (1,)}',
    { $type: 'Object', value: { $type: 'mine', x: { $type: 'tuple', value: [1] } } },
  ],
  [
    'import datetime as d\nz = d.timezone(d.timedelta(hours=2))\n' +
      '[d.datetime(2026, 1, 31, 12), d.datetime(2026, 1, 31, 12, 0, 0, 5, z), d.date(2026, 1, 31), d.time(12), d.timedelta(seconds=1.5)]',
    [
      { $type: 'datetime', value: '2026-01-31T12:00:00' },
      { $type: 'datetime', value: '2026-01-31T12:00:00.000005+02:00' },
      { $type: 'date', value: '2026-01-31' },
      { $type: 'time', value: '12:00:00' },
      { $type: 'timedelta', value: 1.5 },
    ],
  ],
  ['from decimal import Decimal\nDecimal("1.10")', { $type: 'Decimal', value: '1.10' }],
  ['KeyError("k")', { $type: 'Error', name: 'KeyError', message: "'k'" }],
  ['print', { $type: 'Unserializable', text: '<built-in function print>' }],
  ['range(3)', { $type: 'Unserializable', text: 'range(0, 3)' }],
  ['...', { $type: 'Unserializable', text: 'Ellipsis' }],
  ['from dataclasses import dataclass\n@dataclass\nclass Point:\n    x: int\n\nPoint(1)', { x: 1 }],
  ['import enum\nclass Color(enum.IntEnum):\n    red = 1\n\n[Color.red]', [1]],
  [
    'from collections import OrderedDict, namedtuple\n[OrderedDict(a=1), namedtuple("P", "x")(2)]',
    [{ a: 1 }, { $type: 'tuple', value: [2] }],
  ],
]

const references: readonly (readonly [code: string, value: unknown])[] = [
  ['a = []\na.append(a)\na', [{ $type: 'Ref', path: [] }]],
  ['a = [1]\n{"x": a, "y": a}', { x: [1], y: { $type: 'Ref', path: ['x'] } }],
  ['t = ([],)\nt[0].append(t)\n[t]', [{ $type: 'tuple', value: [[{ $type: 'Ref', path: [0] }]] }]],
  [
    'd = {1: []}\nd[1].append(d[1])\nd',
    { $type: 'Map', value: [[1, [{ $type: 'Ref', path: ['value', 0, 1] }]]] },
  ],
  [
    'd = {"$type": 1}\nd["me"] = d\nd["t"] = ([],)\nd["u"] = d["t"][0]\nd',
    {
      $type: 'Object',
      value: {
        $type: 1,
        me: { $type: 'Ref', path: [] },
        t: { $type: 'tuple', value: [[]] },
        u: { $type: 'Ref', path: ['value', 't', 'value', 0] },
      },
    },
  ],
  ['[(), (), "s", "s", b"x", b"x"]', [tuple(), tuple(), 's', 's', bytes('eA=='), bytes('eA==')]],
]

function tuple(): unknown {
  return { $type: 'tuple', value: [] }
}

function bytes(value: string): unknown {
  return { $type: 'bytes', value }
}

suite('values of Python programs', { concurrency: 4 }, () => {
  for (const [code, value, text] of plain) {
    test(`${JSON.stringify(code)} becomes plain JSON with the text of the REPL`, async () => {
      assert.deepEqual(await evaluate(code), { type: 'value', value, text, truncated: false })
    })
  }
  for (const [code, value] of [...tagged, ...references]) {
    test(`${JSON.stringify(code)} is encoded with tags`, async () => {
      assert.deepEqual((await evaluate(code)).value, value)
    })
  }

  test('None, statements and an expression with a semicolon have no value', async () => {
    for (const code of [
      'None',
      'x = 1',
      '',
      '# nothing',
      '1;',
      '1 + 1 ; # said',
      '(1 +\n  1);',
      '"é";',
      'print',
      '[].clear()',
    ]) {
      const run = await runGuest(code)
      assert.equal(run.exitCode, 0, run.stderr)
      assert.equal(run.messages.length, code === 'print' ? 2 : 1, code)
    }
  })

  test('the last line is the last expression only if no statement continues on it', async () => {
    const values: readonly (readonly [string, unknown])[] = [
      ['x = [\n1,\n2]\nx', [1, 2]],
      ['(\n1 +\n2)', 3],
      ['f = lambda text: text\nf("""\na = 1 #""")', '\na = 1 #'],
      ['f = lambda text: text\nf("""\nx\n""")', '\nx\n'],
      ['1 + \\\n2', 3],
      ['x = 1\nif x: pass\nelse: pass\nx', 1],
      ['x = 1\nx; x + 1', 2],
      ['x = 1\nx + 1\n# a comment\n    # and one more\n\n', 2],
      ['x = 1\n\fx + 1', 2],
      ['from __future__ import annotations\ndef f(a: 1): pass\nf.__annotations__["a"]', '1'],
      ['import asyncio\nawait asyncio.sleep(0)\nawait asyncio.sleep(0, 5)', 5],
    ]
    for (const [code, value] of values) assert.deepEqual((await evaluate(code)).value, value, code)
    const run = await runGuest('x = """\ny = 1\nx"""')
    assert.deepEqual([run.exitCode, run.messages.length], [0, 1], run.stderr)
  })

  test('a semicolon inside the last expression or its comment changes nothing', async () => {
    assert.equal((await evaluate('"a;"')).value, 'a;')
    assert.equal((await evaluate('x = 1; (x + 1)  # done;')).value, 2)
  })

  test('lone surrogates are kept, also in keys and texts', async () => {
    const message = await evaluate('["\\ud800", {"\\udfff": 1}]')
    assert.deepEqual(message.value, ['\ud800', { '\udfff': 1 }])
    assert.equal(message.text, "['\\ud800', {'\\udfff': 1}]")
  })

  test('an exception as a value keeps its stack, cause and own fields', async () => {
    const code = `
try:
    try:
        1 / 0
    except ZeroDivisionError as error:
        raise ValueError("bad") from error
except ValueError as error:
    error.code = (1,)
    error.note = error
    caught = error
caught`
    const error = (await evaluate(code)).value as Record<string, unknown>
    assert.equal(error['name'], 'ValueError')
    assert.equal(error['message'], 'bad')
    assert.match(String(error['stack']), /File "<code>", line 6/)
    assert.equal((error['cause'] as Record<string, unknown>)['name'], 'ZeroDivisionError')
    assert.deepEqual(error['properties'], {
      code: { $type: 'tuple', value: [1] },
      note: { $type: 'Ref', path: [] },
    })
  })

  test('a value longer than its limit is replaced by its text and marked', async () => {
    for (const code of [
      '"x" * 3000',
      '[1] * 3000',
      'b"x" * 3000',
      '"é" * 3000',
      '{"k": "\\x01" * 3000}',
      '[2**40000]',
      'bytearray(3000)',
    ]) {
      const message = await evaluate(code, { resultBytes: 2000 })
      assert.equal(message.truncated, true, code)
      assert.equal((message.value as { $type: string }).$type, 'Unserializable', code)
      assert.ok(Buffer.byteLength(JSON.stringify(message.value)) <= 2000, code)
    }
    assert.equal((await evaluate('"x" * 1998', { resultBytes: 2000 })).truncated, false)
  })

  test('the text of a value is bounded and shows where it was cut', async () => {
    for (const code of [
      '"é" * 100_000',
      'list(range(100_000))',
      'type("A", (), {"__repr__": lambda self: "y" * 10**6})()',
    ]) {
      const { text } = await evaluate(code)
      assert.ok(Buffer.byteLength(text) <= 64 * 1024, code)
      assert.ok(text.endsWith('…'), code)
    }
  })

  test('nesting beyond the maximum depth is cut and marked', async () => {
    const message = await evaluate('x = []\nfor _ in range(100_000):\n    x = [x]\nx')
    let levels = 0
    let inner = message.value
    while (Array.isArray(inner)) {
      levels++
      inner = inner[0]
    }
    assert.equal(levels, 1001)
    assert.deepEqual(inner, { $type: 'Unserializable', text: '[nested too deeply]' })
    assert.equal(message.truncated, true)
  })

  test('a huge integer takes no time and a huge value no memory beyond its limit', async () => {
    const number = await evaluate('1 << 4_000_000')
    assert.equal((number.value as { value: string }).value, `0x1${'0'.repeat(1_000_000)}`)
    const limited =
      'import resource\nresource.setrlimit(resource.RLIMIT_DATA, (120 << 20,) * 2)\nbytearray(60 << 20)'
    assert.equal(valueOf(await runGuest(limited)).truncated, true)
  })
})
