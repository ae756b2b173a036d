import assert from 'node:assert/strict'
import { test } from 'node:test'

import { chooseFiles } from '../../../src/runtimes/collect/choice.ts'
import { Deadline } from '../../../src/runtimes/collect/deadline.ts'
import { decodeListing } from '../../../src/runtimes/collect/listing.ts'
import { MissingLog } from '../../../src/runtimes/collect/missing-log.ts'
import { parsePattern } from '../../../src/runtimes/collect/pattern.ts'
import { systemClock } from '../../../src/core/clock.ts'
import { seededRandom } from '../../support/seeded-random.ts'

const all = parsePattern('**')

function listingOf(paths: readonly string[]) {
  return paths.map((path) => {
    return { path, bytes: 1, isExecutable: false, type: 'file' as const, isNameable: true }
  })
}

test('files are sorted by path, however many there are', async () => {
  const random = seededRandom(7)
  for (const count of [0, 1, 4095, 4096, 4097, 8193, 30_000]) {
    const paths = Array.from({ length: count }, () => `${Math.floor(random() * count)}/a`)
    const deadline = new Deadline(60_000, systemClock, undefined)
    const missing = new MissingLog()
    const { files } = await chooseFiles(listingOf(paths), all, { deadline, missing })
    deadline.cancel()
    assert.deepEqual([files.map(({ path }) => path), missing.list], [paths.toSorted(), []], `${count} files`)
  }
})

test('a deadline that is over leaves no files', async () => {
  const deadline = new Deadline(60_000, systemClock, AbortSignal.abort())
  const missing = new MissingLog()
  const chosen = await chooseFiles(listingOf(['a', 'b']), all, { deadline, missing })
  assert.deepEqual(chosen, { files: [], folders: [] })
  assert.deepEqual(missing.list, [{ reason: 'ended', count: 0, paths: [] }])
  deadline.cancel()
})

test('names that lead out, or are no UTF-8, are told from others', () => {
  const names = [
    'a',
    '.a',
    '..a/b',
    'a/..b',
    '\u{FFFD}',
    '..',
    '.',
    'a/../b',
    'a//b',
    '/a',
    'a/',
    './a',
    'a/.',
  ]
  const bytes = [...names.map((name) => Buffer.from(name)), Buffer.from([0x61, 0xff])]
  const listed = Buffer.concat(
    bytes.map((name) => {
      const head = Buffer.alloc(16)
      head.writeBigUInt64LE(5n, 0)
      head.writeUInt32LE(0o100644, 8)
      head.writeUInt32LE(name.length, 12)
      return Buffer.concat([head, name])
    }),
  )
  const found = [...decodeListing(listed)].map(({ path, isNameable }) => [path, isNameable])
  assert.deepEqual(found, [
    ['a', true],
    ['.a', true],
    ['..a/b', true],
    ['a/..b', true],
    ['\u{FFFD}', true],
    ['a\u{FFFD}', false],
  ])
})
