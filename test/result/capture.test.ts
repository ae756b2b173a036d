import assert from 'node:assert/strict'
import { test } from 'node:test'

import fc from '../support/fast-check.ts'

import type { OutputChunk } from '../../src/core/request.ts'
import { Capture } from '../../src/result/capture.ts'

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
  assert.deepEqual([capture.text('stdout'), capture.text('stderr'), capture.bytes], ['€', '€', 6])
})

test('kept output does not change with the buffer in which it arrived', () => {
  const chunks: OutputChunk[] = []
  const capture = new Capture((chunk) => chunks.push(chunk), listener)
  const buffer = Buffer.from('first')
  capture.add('stdout', buffer, 0)
  buffer.fill('x')
  assert.equal(capture.text('stdout'), 'first')
  assert.equal(Buffer.from(chunks[0]?.bytes ?? []).toString(), 'first')
})

test('works without a listener', () => {
  const capture = new Capture(undefined, listener)
  capture.add('stderr', Buffer.from('text'), 0)
  assert.equal(capture.text('stderr'), 'text')
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
      for (const stream of ['stdout', 'stderr'] as const) {
        const whole = Buffer.concat(pieces.filter((one) => one.stream === stream).map(({ bytes }) => bytes))
        assert.equal(capture.text(stream), whole.toString('utf8'))
      }
      assert.equal(
        capture.bytes,
        pieces.reduce((sum, { bytes }) => sum + bytes.length, 0),
      )
    }),
  )
})
