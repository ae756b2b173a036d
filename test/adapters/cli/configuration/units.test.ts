import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  formatDuration,
  formatSize,
  parseCount,
  parseDuration,
  parseSize,
} from '../../../../src/adapters/cli/options/units.ts'

test('a duration is read in milliseconds, seconds, minutes and hours', () => {
  assert.deepEqual(
    ['500ms', '5s', '1.5s', '2m', '1h', ' 3 S '].map(parseDuration),
    [500, 5_000, 1_500, 120_000, 3_600_000, 3_000],
  )
})

test('a duration without a unit, of zero, or too long for a timer is refused', () => {
  for (const text of ['5', '0s', '-1s', '0.1ms', '5 parsecs', '', '600h', '1e3s', 'constructor']) {
    assert.throws(() => parseDuration(text), /duration/, text)
  }
})

test('a size is read in binary and decimal units', () => {
  assert.deepEqual(
    ['1B', '2KiB', '64MiB', '1.5GiB', '1kB', '64m', '2GB'].map(parseSize),
    [1, 2_048, 67_108_864, 1_610_612_736, 1_000, 67_108_864, 2_000_000_000],
  )
})

test('a size without a unit, of zero, or above the largest exact number is refused', () => {
  for (const text of ['64', '0MiB', '-1MiB', 'lots', '99999999GiB', '5s', '1__proto__']) {
    assert.throws(() => parseSize(text), /size/, text)
  }
})

test('a count is a whole number from 1', () => {
  assert.equal(parseCount('64'), 64)
  for (const text of ['0', '-1', '1.5', '', 'many', '1e3', '99999999999999999999']) {
    assert.throws(() => parseCount(text), /whole number/, text)
  }
})

test('durations and sizes are printed in the unit that reads best', () => {
  assert.deepEqual([250, 1_000, 1_500, 90_000, 120_000].map(formatDuration), [
    '250 ms',
    '1 s',
    '1.5 s',
    '90 s',
    '2 min',
  ])
  assert.deepEqual([800, 2_048, 67_108_864, 1.5 * 2 ** 30].map(formatSize), [
    '800 B',
    '2 KiB',
    '64 MiB',
    '1.5 GiB',
  ])
})
