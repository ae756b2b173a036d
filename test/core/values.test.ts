import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from '../support/fast-check.ts'
import { processorMs } from '../../src/core/clock.ts'
import { Unserializable } from '../../src/core/values/encode-leaf.ts'
import { depthMax } from '../../src/core/values/value-depth.ts'
import { decodeValue, encodeValue } from '../../src/core/values/values.ts'
import { measurePeak } from '../support/machine/resident-memory.ts'

const roundTrip = (value: unknown): unknown =>
  decodeValue(JSON.parse(JSON.stringify(encodeValue(value).value)))

const typedArrays = [
  Int8Array,
  Uint8Array,
  Uint8ClampedArray,
  Int16Array,
  Uint16Array,
  Int32Array,
  Uint32Array,
  Float32Array,
  Float64Array,
  BigInt64Array,
  BigUint64Array,
]

const key = fc.oneof(
  fc.string(),
  fc.constantFrom('$type', '__proto__', 'constructor', 'toString', 'value', 'path', '0'),
)
const leaf = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.double(),
  fc.integer(),
  fc.bigInt(),
  fc.boolean(),
  fc.constantFrom(null, undefined, -0, NaN, Infinity, -Infinity, 'Ref', 'Map'),
  fc.date({ noInvalidDate: true }),
  fc.constantFrom(/a/, /(?<x>[é/])\n/giu, new Unserializable('[Function: f]')),
  fc.tuple(fc.constantFrom(...typedArrays), fc.uint8Array()).map(([View, bytes]) => {
    const whole = bytes.slice(0, bytes.length - (bytes.length % View.BYTES_PER_ELEMENT))
    return new View(whole.buffer)
  }),
  fc.uint8Array().map(({ buffer }) => buffer),
  fc.uint8Array().map(({ buffer }) => new DataView(buffer)),
)
const { value: anyValue } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    leaf,
    tie('array'),
    tie('object'),
    tie('map'),
    tie('set'),
    tie('error'),
  ),
  array: fc.array(tie('value')),
  object: fc.array(fc.tuple(key, tie('value'))).map((entries) => Object.fromEntries(entries)),
  map: fc.array(fc.tuple(tie('value'), tie('value'))).map((entries) => new Map(entries)),
  set: fc.array(tie('value')).map((items) => new Set(items)),
  error: fc
    .tuple(fc.constantFrom(Error, TypeError, RangeError), fc.string(), tie('value'))
    .map(([Kind, message, cause]) => new Kind(message, { cause })),
}))

describe('Encoding a value and decoding it again', () => {
  test('gives an equal value', () => {
    fc.assert(fc.property(anyValue, (value) => assert.deepStrictEqual(roundTrip(value), value)))
  })

  test('keeps an invalid date', () => {
    // Not part of the property above, because for Node 22's comparison no two invalid dates are equal.
    const [, date] = roundTrip(['before', new Date(NaN)]) as [string, Date]
    assert.ok(date instanceof Date)
    assert.equal(date.getTime(), NaN)
  })

  test('keeps cycles and sharing through every kind of container', () => {
    const inner = { name: 'inner' }
    const root: Record<string, unknown> = { $type: 'Object', list: [inner, inner] }
    const map = new Map<unknown, unknown>([[root, inner]])
    Object.assign(root, {
      self: root,
      map,
      set: new Set([map, root]),
      error: new Error('x', { cause: root }),
    })
    const decoded = roundTrip(root) as typeof root & {
      list: unknown[]
      map: typeof map
      set: Set<unknown>
      error: Error
    }
    assert.equal(decoded['self'], decoded)
    assert.equal(decoded.list[0], decoded.list[1])
    assert.deepEqual([...decoded.map], [[decoded, decoded.list[0]]])
    assert.ok(decoded.set.has(decoded) && decoded.set.has(decoded.map))
    assert.equal(decoded.error.cause, decoded)
  })

  test('keeps holes', () => {
    // oxlint-disable-next-line no-sparse-arrays
    const decoded = roundTrip([1, , undefined, ,]) as unknown[]
    assert.deepEqual([decoded.length, 1 in decoded, 2 in decoded, 3 in decoded], [4, false, true, false])
  })

  test('keeps errors with name, stack, fields and inner errors', () => {
    const error = Object.assign(new AggregateError([new TypeError('in')], 'out'), { code: 'E1' })
    error.name = 'Custom'
    const decoded = roundTrip(error) as AggregateError & { code: string }
    assert.ok(decoded instanceof Error)
    assert.deepEqual(
      [decoded.name, decoded.message, decoded.code, decoded.stack],
      ['Custom', 'out', 'E1', error.stack],
    )
    assert.ok(decoded.errors[0] instanceof TypeError)
  })

  test('encodes class instances as plain objects', () => {
    class Point {
      x = 1
      get y(): number {
        return 2
      }
    }
    assert.deepStrictEqual(roundTrip([new Point(), Object.create(null), new Number(5), Object('s')]), [
      { x: 1 },
      {},
      5,
      's',
    ])
  })
})

describe('Encoding a value', () => {
  test('leaves plain JSON as it is', () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
        // JSON text loses the sign of -0.
        const json: unknown = JSON.parse(JSON.stringify(value))
        assert.deepStrictEqual(encodeValue(json).value, json)
      }),
    )
  })

  test('uses the tags of the format', () => {
    const shared = {}
    const tagged = encodeValue([
      undefined,
      NaN,
      -0,
      12n,
      new Date(0),
      new Map([[1, 2]]),
      new Uint8Array([1]),
      { $type: 'x' },
      shared,
      shared,
    ]).value
    assert.deepEqual(tagged, [
      { $type: 'undefined' },
      { $type: 'NaN' },
      { $type: '-0' },
      { $type: 'BigInt', value: '12' },
      { $type: 'Date', value: '1970-01-01T00:00:00.000Z' },
      { $type: 'Map', value: [[1, 2]] },
      { $type: 'Uint8Array', value: 'AQ==' },
      { $type: 'Object', value: { $type: 'x' } },
      {},
      { $type: 'Ref', path: [8] },
    ])
  })

  test('never throws, whatever getters and proxies do', () => {
    const fail = (): never => {
      throw new Error('trap')
    }
    const traps = {
      get: fail,
      ownKeys: fail,
      getPrototypeOf: fail,
      getOwnPropertyDescriptor: fail,
      has: fail,
    }
    const { proxy: revoked, revoke } = Proxy.revocable({}, {})
    revoke()
    const hostile = [
      new Proxy({}, traps),
      new Proxy([], traps),
      revoked,
      {
        get a() {
          return fail()
        },
      },
      Object.defineProperty(() => {}, 'name', { get: fail }),
    ]
    const { value } = encodeValue(hostile)
    assert.equal((value as unknown[]).length, hostile.length)
  })

  test('describes a detached buffer, which cannot be read', () => {
    const bytes = new Uint8Array(4)
    structuredClone(bytes, { transfer: [bytes.buffer] })
    assert.doesNotThrow(() => encodeValue(bytes))
  })

  test('stops at a depth and reports it', () => {
    let deep: unknown = 0
    for (let level = 0; level < 100_000; level++) deep = level % 2 === 0 ? [deep] : new Map([[0, deep]])
    assert.equal(encodeValue(deep).truncated, true)
    assert.ok(JSON.stringify(encodeValue(deep).value).length < 100 * depthMax)
  })

  test('replaces a value that is too large, without building its text first', () => {
    for (const large of ['x'.repeat(2 ** 28), Array(2 ** 32 - 1), new Uint8Array(2 ** 28)]) {
      const { result, peakBytes } = measurePeak(() => encodeValue(large, { maxBytes: 1000 }))
      assert.deepEqual(result, {
        value: { $type: 'Unserializable', text: '[larger than 1000 bytes]' },
        truncated: true,
      })
      assert.ok(peakBytes < 2 ** 26, `${peakBytes} bytes`)
    }
  })

  test('counts bytes, not characters', () => {
    assert.equal(encodeValue('é'.repeat(49), { maxBytes: 100 }).truncated, false)
    assert.equal(encodeValue('é'.repeat(50), { maxBytes: 100 }).truncated, true)
  })
})

describe('Decoding hostile input', () => {
  const tag = fc.oneof(
    fc.constantFrom(
      'Ref',
      'Map',
      'Set',
      'Error',
      'Date',
      'BigInt',
      'RegExp',
      'Uint8Array',
      'Float64Array',
      'DataView',
      'Object',
      'hole',
      'tuple',
    ),
    fc.constantFrom(
      'set',
      'bytes',
      'datetime',
      'complex',
      'timedelta',
      'Unserializable',
      '__proto__',
      'constructor',
      'nothing',
    ),
  )
  const member = fc.constantFrom(
    'value',
    'path',
    'name',
    'message',
    'stack',
    'cause',
    'errors',
    'properties',
    'source',
    'flags',
    'text',
    'real',
  )
  const { node } = fc.letrec((tie) => ({
    node: fc.oneof(
      { depthSize: 'small' },
      fc.jsonValue({ maxDepth: 1 }),
      fc.array(tie('node')),
      tie('tagged'),
    ),
    tagged: fc
      .tuple(tag, fc.dictionary(member, tie('node')))
      .map(([name, members]) => ({ $type: name, ...members })),
  }))

  test('never throws and pollutes nothing', () => {
    fc.assert(
      fc.property(node, (tagged) => {
        decodeValue(JSON.parse(JSON.stringify(tagged)))
        assert.equal(Reflect.get({}, 'polluted'), undefined)
      }),
    )
  })

  test('decodes malformed and unknown tags as plain objects', () => {
    const malformed = [
      { $type: 'Date', value: 5 },
      { $type: 'Date', value: 'x' },
      { $type: 'BigInt', value: '1.5' },
      { $type: 'BigInt', value: '9'.repeat(5000) },
      { $type: 'RegExp', source: '(', flags: '' },
      { $type: 'RegExp', source: 'a', flags: 'zz' },
      { $type: 'Map', value: [[1]] },
      { $type: 'Map', value: { 0: 1 } },
      { $type: 'Set', value: 'ab' },
      { $type: 'Error', name: 5, message: '' },
      { $type: 'Float64Array', value: 'AQ==' },
      { $type: 'Ref', path: ['none'] },
      { $type: 'Ref', path: [0, '__proto__'] },
      { $type: 'Ref', path: 'x' },
      { $type: 'datetime', value: 'yesterday' },
      { $type: 'SharedArrayBuffer', value: '' },
      { $type: 5 },
    ]
    assert.deepEqual(decodeValue(malformed), malformed)
  })

  test('never sets a prototype', () => {
    const decoded = decodeValue(
      JSON.parse(
        '[{"__proto__":{"polluted":1}},{"$type":"Object","value":{"__proto__":{"polluted":1}}},{"$type":"Error","name":"Error","message":"","properties":{"__proto__":{"polluted":1}}}]',
      ),
    ) as object[]
    assert.deepEqual(
      decoded.map((item) => [
        Object.getPrototypeOf(item),
        Object.hasOwn(item, '__proto__'),
        Reflect.get(item, 'polluted'),
      ]),
      [
        [Object.prototype, true, undefined],
        [Object.prototype, true, undefined],
        [Error.prototype, true, undefined],
      ],
    )
  })

  test('stops at a depth instead of running out of stack', () => {
    for (const [open, close] of [
      ['[', ']'],
      ['{"a":', '}'],
      ['{"$type":"Map","value":[[0,', ']]}'],
      ['{"$type":"Error","name":"E","message":"","cause":', '}'],
    ] as const) {
      const json = open.repeat(200_000) + '0' + close.repeat(200_000)
      assert.doesNotThrow(() => decodeValue(JSON.parse(json)))
    }
  })

  test('does not multiply: many references to one object stay one object', () => {
    // Decoded as copies, thirty levels of two references each would be a thousand million objects.
    const levels: unknown[] = [{}]
    for (let level = 1; level < 30; level++)
      levels.push([
        { $type: 'Ref', path: [level - 1] },
        { $type: 'Ref', path: [level - 1] },
      ])
    const decoded = decodeValue(levels) as unknown[][]
    assert.equal(decoded[29]?.[0], decoded[28])
    assert.equal(decoded[29]?.[1], decoded[28])
  })

  test('takes processor time in proportion to its size', () => {
    const timed = (tagged: unknown): number => {
      const started = processorMs()
      decodeValue(tagged)
      return processorMs() - started
    }
    const errors = Array.from({ length: 200_000 }, () => ({ $type: 'Error', name: 'Error', message: '' }))
    const references = Array.from({ length: 200_000 }, () => ({ $type: 'Ref', path: [] }))
    for (const tagged of [errors, references]) assert.ok(timed(tagged) < 5_000)
  })
})

describe('Decoding Python’s own tags', () => {
  test('gives the closest live values', () => {
    const tagged = [
      { $type: 'tuple', value: [1, { $type: 'tuple', value: [] }] },
      { $type: 'set', value: [1, 2] },
      { $type: 'frozenset', value: [] },
      { $type: 'bytes', value: 'AQI=' },
      { $type: 'bytearray', value: '' },
      { $type: 'datetime', value: '2026-01-31T12:00:00.123456+02:00' },
      { $type: 'datetime', value: '2026-01-31T12:00:00' },
      { $type: 'date', value: '2026-01-31' },
      { $type: 'time', value: '12:00:00' },
      { $type: 'timedelta', value: 1.5 },
      { $type: 'Decimal', value: '1.10' },
      { $type: 'complex', real: 1, imag: { $type: '-0' } },
      { $type: 'Map', value: [[1, { $type: 'tuple', value: [2] }]] },
    ]
    assert.deepStrictEqual(decodeValue(tagged), [
      [1, []],
      new Set([1, 2]),
      new Set(),
      new Uint8Array([1, 2]),
      new Uint8Array(),
      new Date('2026-01-31T10:00:00.123Z'),
      new Date('2026-01-31T12:00:00Z'),
      '2026-01-31',
      '12:00:00',
      1.5,
      '1.10',
      { real: 1, imag: -0 },
      new Map([[1, [2]]]),
    ])
  })
})

test('a long text is the same however it is split', () => {
  for (const length of [65_535, 65_536, 73_727, 73_728, 100_001])
    for (const character of ['a', '\n', '😀', '\ud83d', '\ude00', 'a😀'])
      assert.equal(
        JSON.stringify(encodeValue(character.repeat(length)).value),
        JSON.stringify(character.repeat(length)),
      )
})
