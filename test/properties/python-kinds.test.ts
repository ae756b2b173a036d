/** Values of Python's own kinds have the same encoding in both directions. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from '../support/fast-check.ts'
import { evaluate } from '../runtimes/python/expect-guest.ts'
import { findDifference } from './same-value.ts'

const tag = (name: string, value: unknown) => ({ $type: name, value })
const base64 = fc.uint8Array().map((bytes) => Buffer.from(bytes).toString('base64'))
const two = (most: number) =>
  fc.integer({ min: 0, max: most }).map((number) => String(number).padStart(2, '0'))
const day = fc.integer({ min: 1, max: 9999 }).map((year) => `${String(year).padStart(4, '0')}-02-28`)
const micros = fc.oneof(
  fc.constant(''),
  fc.integer({ min: 1, max: 999_999 }).map((count) => `.${String(count).padStart(6, '0')}`),
)
const clock = fc.tuple(two(23), two(59), two(59), micros).map(([h, m, s, us]) => `${h}:${m}:${s}${us}`)
const zone = fc.constantFrom('', '+00:00', '-11:30', '+00:19:32', '+23:59:59.999999')
const float = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => (Object.is(number, -0) ? 0 : number)),
  fc.constantFrom('NaN', 'Infinity', '-Infinity', '-0').map((name) => ({ $type: name })),
)
const scalar = fc.oneof(
  fc.constantFrom(null, true, false),
  fc.integer(),
  fc.string({ unit: 'grapheme' }),
  float,
  fc.bigInt({ min: 2n ** 53n, max: 2n ** 900n }).map((value) => tag('BigInt', String(value))),
)
const single = fc.oneof(
  base64.map((text) => tag('bytes', text)),
  base64.map((text) => tag('bytearray', text)),
  fc.tuple(day, clock, zone).map(([date, time, offset]) => tag('datetime', `${date}T${time}${offset}`)),
  day.map((date) => tag('date', date)),
  fc.tuple(clock, zone).map(([time, offset]) => tag('time', `${time}${offset}`)),
  fc.maxSafeInteger().map((count) => tag('timedelta', Object.is(count, -0) ? 0 : count / 1e6)),
  fc
    .constantFrom(
      'NaN',
      'sNaN',
      '-NaN123',
      'Infinity',
      '-Infinity',
      '-0',
      '0E-10',
      '1E+999999',
      '1.10',
      '-0.000',
    )
    .map((text) => tag('Decimal', text)),
  fc.bigInt().map((value) => tag('Decimal', String(value))),
  fc.tuple(float, float).map(([real, imag]) => ({ $type: 'complex', real, imag })),
)
const { value: anyPython } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    scalar,
    single,
    tie('list'),
    tie('tuple'),
    tie('dict'),
    tie('map'),
    tie('set'),
  ),
  list: fc.array(tie('value')),
  tuple: fc.array(tie('value')).map((items): unknown => tag('tuple', items)),
  dict: fc.dictionary(fc.string(), tie('value')).map((fields): unknown => {
    return '$type' in fields ? tag('Object', fields) : { ...fields }
  }),
  // A map whose keys are all strings becomes an object.
  map: fc
    .uniqueArray(fc.tuple(key(), tie('value')), { selector: ([name]) => JSON.stringify(name) })
    .map((entries): unknown => tag('Map', [[null, 0], ...entries])),
  set: fc
    .tuple(fc.constantFrom('set', 'frozenset'), fc.uniqueArray(fc.string(), { maxLength: 1 }))
    .map(([name, items]): unknown => tag(name, items)),
}))

function key(): fc.Arbitrary<unknown> {
  const plain = fc.oneof(
    fc.string(),
    base64.map((text) => tag('bytes', text)),
    day.map((text) => tag('date', text)),
  )
  return fc.oneof(
    plain,
    fc.array(plain).map((items): unknown => tag('tuple', items)),
  )
}

const values = fc.sample(anyPython, 3000)

test('3,000 values of Python’s own types return unchanged', async () => {
  const { value, truncated } = await evaluate('input_data', { input: values, resultBytes: 1 << 24 })
  assert.equal(truncated, false)
  const back = value as readonly unknown[]
  const differences = values.flatMap((sent, index) => findDifference(back[index], toPlain(sent)) ?? [])
  assert.deepEqual(differences.slice(0, 5), [])
})

/** Converts through JSON, because fast-check creates objects without a prototype. */
const toPlain = (value: unknown): unknown => JSON.parse(JSON.stringify(value))
