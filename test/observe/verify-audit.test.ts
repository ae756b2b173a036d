/** Every change to a log is detected, and distinguished from a crash in the middle of a line. */
import assert from 'node:assert/strict'
import { readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import fc from '../support/fast-check.ts'

import { readLine, writeLine } from '../../src/observe/audit-line.ts'
import { verifyAudit } from '../../src/observe/verify-audit.ts'
import { keepLoopFree } from '../support/machine/loop-delay.ts'
import { LogFolder, recordOf } from './log-folder.ts'

const count = 12

async function isIntact(folder: LogFolder): Promise<boolean> {
  return (await verifyAudit(folder.file)).isIntact
}

/** Checks that each change, applied to a fresh copy of the same log, is detected. */
async function eachIsFound<T>(change: fc.Arbitrary<T>, apply: (lines: string[], change: T) => string[]) {
  using folder = new LogFolder()
  await folder.fill(count, 'ada')
  const { lines } = folder
  await fc.assert(
    fc.asyncProperty(change, async (one) => {
      const changed = apply([...lines], one)
      fc.pre(changed.join('\n') !== lines.join('\n'))
      folder.lines = changed
      assert.equal(await isIntact(folder), false)
    }),
    { numRuns: 200 },
  )
  folder.lines = lines
  assert.equal(await isIntact(folder), true)
}

const place = fc.nat({ max: count - 1 })

describe('a later change of a log is detected:', () => {
  test('a character that was changed, wherever', () =>
    eachIsFound(
      fc.tuple(place, fc.nat(), fc.string({ unit: 'binary-ascii', minLength: 1, maxLength: 1 })),
      (lines, [at, where, by]) =>
        lines.map((line, index) => {
          const offset = where % line.length
          return index === at ? line.slice(0, offset) + by + line.slice(offset + 1) : line
        }),
    ))

  test('a record that was removed, the last one excepted', () =>
    eachIsFound(fc.nat({ max: count - 2 }), (lines, at) => lines.toSpliced(at, 1)))

  test('a record that occurs twice', () =>
    eachIsFound(fc.tuple(place, place), (lines, [from, to]) => lines.toSpliced(to, 0, lines[from] ?? '')))

  test('records that changed places', () =>
    eachIsFound(fc.tuple(place, place), (lines, [one, other]) => {
      const [first = '', second = ''] = [lines[one], lines[other]]
      return lines.with(one, second).with(other, first)
    }))

  test('a rewritten record with a matching hash', () =>
    eachIsFound(fc.nat({ max: count - 2 }), (lines, at) => {
      const line = readLine(lines[at] ?? '')
      assert.ok(line)
      const { statement, sequence, previous } = line
      const entry = { statement, client: 'bob' }
      return lines.with(at, writeLine({ sequence: sequence - 1, sha256: previous }, entry).text.trimEnd())
    }))

  test('the same JSON in another spelling', () =>
    eachIsFound(place, (lines, at) => lines.with(at, (lines[at] ?? '').replace(':', ': '))))

  test('lines of anything else', () =>
    eachIsFound(fc.tuple(place, fc.oneof(fc.json(), fc.string())), (lines, [at, text]) =>
      lines.toSpliced(at, 0, text.replaceAll('\n', ' ')),
    ))
})

test('a log of hundreds of thousands of invalid lines is checked without blocking the event loop', async () => {
  using folder = new LogFolder()
  for (const line of ['', 'x', '{}']) {
    folder.lines = Array.from({ length: 300_000 }, () => line)
    const found = await keepLoopFree(`lines of '${line}'`, () => verifyAudit(folder.file))
    assert.deepEqual([found.isIntact, found.problems.length, found.problems[0]?.line], [false, 100, 1])
  }
})

test('a problem is named with its line, and later lines are checked separately', async () => {
  using folder = new LogFolder()
  await folder.fill(5)
  const { lines } = folder
  folder.lines = lines.toSpliced(2, 1)
  const removed = await verifyAudit(folder.file)
  assert.deepEqual(removed.problems, [{ line: 3, what: 'record 4 does not follow record 2: 1 missing' }])
  folder.lines = lines.with(1, (lines[1] ?? '').replace('python', 'shells'))
  const changed = await verifyAudit(folder.file)
  assert.deepEqual(changed.problems, [
    { line: 2, what: 'is not a record, or was changed' },
    { line: 3, what: 'record 3 does not follow record 1: 1 missing' },
  ])
})

test('a truncated or rewritten log is found with a stored hash of one of its records', async () => {
  using folder = new LogFolder()
  await folder.fill(5)
  const { end } = await verifyAudit(folder.file)
  const noted = { includes: end.sha256 }
  assert.equal((await verifyAudit(folder.file, noted)).isIntact, true)
  folder.lines = folder.lines.slice(0, -1)
  assert.deepEqual([await isIntact(folder), (await verifyAudit(folder.file, noted)).isIntact], [true, false])
})

describe('a crash in the middle of a line', () => {
  test('is distinguished from a change, wherever it occurs, and the next process continues after it', async () => {
    using folder = new LogFolder()
    await folder.fill(3)
    const whole = readFileSync(folder.file)
    const [first = '', second = '', third = ''] = folder.lines
    const lastFrom = first.length + second.length + 2
    for (const length of [1, 2, 40, third.length - 1, third.length]) {
      writeFileSync(folder.file, whole)
      truncateSync(folder.file, lastFrom + length)
      const isWhole = length === third.length
      const before = await verifyAudit(folder.file)
      assert.deepEqual(
        [before.isIntact, before.records, before.isUnfinished],
        [true, isWhole ? 3 : 2, !isWhole],
      )
      await folder.fill(2)
      const after = await verifyAudit(folder.file)
      assert.deepEqual(
        [after.problems, after.records, after.torn, after.isUnfinished],
        [[], isWhole ? 5 : 4, isWhole ? 0 : 1, false],
      )
    }
  })

  test('does not explain text that is no beginning of a record', async () => {
    using folder = new LogFolder()
    for (const text of ['{"ok":true}', 'hello', `[${'1,'.repeat(200)}`]) {
      writeFileSync(folder.file, text)
      const { isIntact: found, isUnfinished } = await verifyAudit(folder.file)
      assert.deepEqual([found, isUnfinished], [false, false], text)
    }
  })

  test('leaves a line that cannot be changed undetected either', async () => {
    using folder = new LogFolder()
    await folder.fill(2)
    folder.append('{"client":"ada","prev')
    await folder.fill(2)
    const { lines } = folder
    assert.equal(await isIntact(folder), true)
    for (const torn of ['{"client":"bob","prev', '', '{"client":"ada","previous']) {
      folder.lines = lines.with(2, torn)
      assert.equal(await isIntact(folder), false, torn)
    }
    folder.lines = lines.toSpliced(2, 1)
    assert.equal(await isIntact(folder), false)
  })

  test('hides no change elsewhere, in ten thousand records', async () => {
    using folder = new LogFolder()
    await folder.fill(5000, 'ada')
    folder.append('{"client":"ada","prev')
    await folder.fill(5000, 'ada')
    const { lines } = folder
    const whole = await verifyAudit(folder.file)
    assert.deepEqual([whole.isIntact, whole.records, whole.torn], [true, 10_000, 1])
    const changes = [
      ...[10, 7000].map((at) => lines.with(at, (lines[at] ?? '').replace('"ada"', '"eve"'))),
      ...[10, 7000].map((at) => lines.toSpliced(at, 1)),
      ...[10, 7000].map((at) => lines.with(at, lines[at + 1] ?? '').with(at + 1, lines[at] ?? '')),
      lines.with(10, lines[7000] ?? '').with(7000, lines[10] ?? ''),
    ]
    for (const [index, changed] of changes.entries()) {
      folder.lines = changed
      assert.equal(await isIntact(folder), false, `change ${index}`)
    }
  })

  test('does not excuse a log whose last record was changed: no process continues it', async () => {
    using folder = new LogFolder()
    await folder.fill(2)
    folder.lines = folder.lines.with(1, 'anything')
    await using log = folder.open()
    await assert.rejects(log.record(recordOf()), { code: 'AUDIT_FAILED', message: /audit verify/ })
    folder.lines = []
  })
})
