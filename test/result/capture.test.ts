import assert from 'node:assert/strict'
import { test } from 'node:test'

import { usedBytes } from '../support/machine/held-memory.ts'
import fc from '../support/fast-check.ts'

import type { OutputChunk } from '../../src/core/request.ts'
import { HostAccount } from '../../src/core/host-account.ts'
import { runSteps } from '../../src/core/steps.ts'
import { Capture, heldPerByte } from '../../src/result/capture.ts'

const listener = { onFull: () => undefined, onEmpty: () => undefined, onFailure: assert.fail }

test('a character that is split between two pieces arrives complete with the second, on each stream separately', () => {
  const chunks: OutputChunk[] = []
  const capture = new Capture((chunk) => chunks.push(chunk), listener)
  const euro = Buffer.from('€')
  capture.add('stdout', euro.subarray(0, 1), 1)
  capture.add('stderr', euro.subarray(0, 2), 2)
  capture.add('stdout', euro.subarray(1), 3)
  capture.add('stderr', euro.subarray(2), 4)
  assert.deepEqual(
    chunks.map(({ stream, text, atMs }) => [stream, text, atMs]),
    [
      ['stdout', '', 1],
      ['stderr', '', 2],
      ['stdout', '€', 3],
      ['stderr', '€', 4],
    ],
  )
  assert.deepEqual(runSteps(capture.texts()), { stdout: '€', stderr: '€' })
  assert.equal(capture.bytes, 6)
})

test('kept output does not change with the buffer in which it arrived', () => {
  const chunks: OutputChunk[] = []
  const capture = new Capture((chunk) => chunks.push(chunk), listener)
  const buffer = Buffer.from('first')
  capture.add('stdout', buffer, 0)
  buffer.fill('x')
  assert.equal(runSteps(capture.texts()).stdout, 'first')
  assert.equal(Buffer.from(chunks[0]?.bytes ?? []).toString(), 'first')
})

test('works without a listener', () => {
  const capture = new Capture(undefined, listener)
  capture.add('stderr', Buffer.from('text'), 0)
  assert.equal(runSteps(capture.texts()).stderr, 'text')
})

test('however output is cut into pieces, the same text is kept', () => {
  const piece = fc.record({
    stream: fc.constantFrom('stdout', 'stderr'),
    bytes: fc.uint8Array({ maxLength: 3000 }),
  })
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
      const capture = new Capture(undefined, listener)
      for (const { stream, bytes } of pieces) capture.add(stream, Buffer.from(bytes), 0)
      const texts = runSteps(capture.texts())
      for (const stream of ['stdout', 'stderr'] as const) {
        const whole = Buffer.concat(pieces.filter((one) => one.stream === stream).map(({ bytes }) => bytes))
        assert.equal(texts[stream], whole.toString('utf8'))
      }
      assert.equal(
        capture.bytes,
        pieces.reduce((sum, { bytes }) => sum + bytes.length, 0),
      )
    }),
  )
})

test('kept output is counted before it is kept, with what its text takes, and cut beyond that', () => {
  const account = new HostAccount(8 * 1000 * heldPerByte)
  using room = account.reserve({ client: 'ada', kind: 'output' })
  const capture = new Capture(undefined, listener, { room })
  for (let pieces = 0; pieces < 6; pieces++) capture.add('stdout', Buffer.alloc(1000, 'a'), 0)
  assert.equal(account.stats.kinds.output, 4000 * heldPerByte)
  capture.add('stderr', Buffer.from('b'), 0)
  assert.deepEqual(capture.cut, ['stdout', 'stderr'])
  assert.deepEqual(runSteps(capture.texts()), { stdout: 'a'.repeat(4000), stderr: '' })
  assert.equal(capture.bytes, 6001)
})

test('kept output takes no more of the host than its bytes, whatever they are', () => {
  const before = usedBytes()
  const capture = new Capture(undefined, listener)
  const piece = Buffer.alloc(64 * 1024, 0xff)
  const bytes = 32 * 1024 * 1024
  for (let at = 0; at < bytes; at += piece.length) capture.add('stdout', piece, 0)
  const grown = usedBytes() - before
  assert.ok(grown < 1.25 * bytes, `${grown} bytes are held`)
  assert.equal(runSteps(capture.texts()).stdout.length, bytes)
})

test('output that was cut inside a character ends before it', () => {
  for (let bytes = 0; bytes <= 6; bytes++) {
    const capture = new Capture(undefined, listener)
    capture.add('stdout', Buffer.from('é😀').subarray(0, bytes), 0)
    assert.equal(runSteps(capture.texts(['stdout'])).stdout, bytes === 6 ? 'é😀' : bytes < 2 ? '' : 'é')
  }
})
