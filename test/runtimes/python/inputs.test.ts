/** `input_data`: decoded from the tagged encoding. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { evaluate } from './expect-guest.ts'

const inputs: readonly (readonly [what: string, input: unknown, text: string])[] = [
  ['plain JSON', { a: [1, 2.5, null, true, 'é'] }, "{'a': [1, 2.5, None, True, 'é']}"],
  ['special numbers', [{ $type: 'NaN' }, { $type: '-Infinity' }, { $type: '-0' }], '[nan, -inf, -0.0]'],
  ['undefined and holes', [{ $type: 'undefined' }, { $type: 'hole' }], '[None, None]'],
  [
    'BigInt',
    [
      { $type: 'BigInt', value: '-12' },
      { $type: 'BigInt', value: '-0xff' },
    ],
    '[-12, -255]',
  ],
  ['a large BigInt', { $type: 'BigInt', value: `0x${'f'.repeat(20)}` }, String(16n ** 20n - 1n)],
  [
    'Date',
    [
      { $type: 'Date', value: '2026-01-31T01:02:03.004Z' },
      { $type: 'Date', value: null },
    ],
    '[datetime.datetime(2026, 1, 31, 1, 2, 3, 4000, tzinfo=datetime.timezone.utc), <Date invalid>]',
  ],
  [
    'Map',
    {
      $type: 'Map',
      value: [
        [1, 'a'],
        ['b', { $type: 'Map', value: [] }],
      ],
    },
    "{1: 'a', 'b': {}}",
  ],
  [
    'a Map whose keys Python cannot hash, as pairs',
    {
      $type: 'Map',
      value: [
        [1, 'a'],
        [[2], 'b'],
      ],
    },
    "[[1, 'a'], [[2], 'b']]",
  ],
  ['Set', { $type: 'Set', value: ['a'] }, "{'a'}"],
  [
    'a Set whose members Python cannot tell apart, as a list',
    { $type: 'Set', value: [1, true] },
    '[1, True]',
  ],
  [
    'numbers that no longer count one by one as floats',
    [2 ** 53, -1e20, 2 ** 53 - 1],
    '[9007199254740992.0, -1e+20, 9007199254740991]',
  ],
  [
    'a date that Python has not',
    { $type: 'Date', value: '+275760-09-13T00:00:00.000Z' },
    "<Date '+275760-09-13T00:00:00.000Z'>",
  ],
  [
    'a pattern that Python does not understand',
    { $type: 'RegExp', source: '(?<!a+)b', flags: 'g' },
    "<RegExp '(?<!a+)b' 'g'>",
  ],
  [
    'a named group in its own spelling',
    { $type: 'RegExp', source: '(?<x>a)\\k<x>', flags: '' },
    "re.compile('(?P<x>a)(?P=x)')",
  ],
  [
    'what could not cross before',
    { $type: 'Unserializable', text: '[Function: f]' },
    "<Unserializable '[Function: f]'>",
  ],
  ['RegExp', { $type: 'RegExp', source: 'a+', flags: 'gi' }, "re.compile('a+', re.IGNORECASE)"],
  ['Uint8Array', { $type: 'Uint8Array', value: 'AQI=' }, "b'\\x01\\x02'"],
  [
    'Int16Array and Float32Array',
    [
      { $type: 'Int16Array', value: '//8CAA==' },
      { $type: 'Float32Array', value: 'AACAPw==' },
    ],
    "[array('h', [-1, 2]), array('f', [1.0])]",
  ],
  [
    'the escape',
    { $type: 'Object', value: { $type: 'mine', x: { $type: '-0' } } },
    "{'$type': 'mine', 'x': -0.0}",
  ],
  ['an unknown tag', { $type: 'zork', x: 1 }, "{'$type': 'zork', 'x': 1}"],
  [
    'malformed tags',
    [{ $type: 'Map', value: 1 }, { $type: 'BigInt' }, { $type: 'Ref', path: [9] }],
    "[{'$type': 'Map', 'value': 1}, {'$type': 'BigInt'}, {'$type': 'Ref', 'path': [9]}]",
  ],
  [
    "Python's own",
    [
      { $type: 'tuple', value: [1] },
      { $type: 'frozenset', value: [1] },
      { $type: 'bytearray', value: 'YQ==' },
    ],
    "[(1,), frozenset({1}), bytearray(b'a')]",
  ],
  [
    'moments',
    [
      { $type: 'date', value: '2026-01-31' },
      { $type: 'timedelta', value: 1.5 },
    ],
    '[datetime.date(2026, 1, 31), datetime.timedelta(seconds=1, microseconds=500000)]',
  ],
  [
    'Decimal and complex',
    [
      { $type: 'Decimal', value: '1.10' },
      { $type: 'complex', real: 1, imag: { $type: '-0' } },
    ],
    "[Decimal('1.10'), (1-0j)]",
  ],
]

suite('input_data', { concurrency: 4 }, () => {
  for (const [what, input, text] of inputs) {
    test(`brings ${what}`, async () => {
      assert.equal((await evaluate('input_data', { input })).text, text)
    })
  }

  test('is None without an input, and input() stays the built-in function', async () => {
    assert.equal((await evaluate('[input_data, input]')).text, '[None, <built-in function input>]')
  })

  test('keeps cycles and shared objects', async () => {
    const input = {
      a: { $type: 'Map', value: [[1, { $type: 'Ref', path: ['a'] }]] },
      b: { $type: 'Ref', path: [] },
    }
    assert.equal(
      (await evaluate('[input_data["b"] is input_data, input_data["a"][1] is input_data["a"]]', { input }))
        .text,
      '[True, True]',
    )
  })

  test('brings errors as exceptions, with cause and fields', async () => {
    const input = {
      $type: 'Error',
      name: 'TypeError',
      message: 'm',
      stack: 's',
      cause: { $type: 'Error', name: 'Zork', message: 'n' },
      properties: { code: 5 },
    }
    const code = 'e = input_data\n[type(e), str(e), e.code, e.stack, repr(e.__cause__), e.__cause__.name]'
    assert.equal(
      (await evaluate(code, { input })).text,
      `[<class 'TypeError'>, 'm', 5, 's', "Exception('n')", 'Zork']`,
    )
  })

  test('may have the maximum depth', async () => {
    let input: unknown = []
    for (let level = 0; level < 1000; level++) input = { $type: 'Map', value: [[1, input]] }
    const code = 'depth, x = 0, input_data\nwhile x:\n    depth, x = depth + 1, x[1]\ndepth'
    assert.equal((await evaluate(code, { input })).value, 1000)
  })

  test('returns unchanged', async () => {
    const input = [
      { $type: 'tuple', value: [{ $type: 'NaN' }] },
      { $type: 'Ref', path: [0] },
      { $type: 'bytes', value: 'AA==' },
    ]
    assert.deepEqual((await evaluate('input_data', { input })).value, input)
  })
})
