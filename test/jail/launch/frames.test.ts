import assert from 'node:assert/strict'
import { test } from 'node:test'

import fc from '../../support/fast-check.ts'

import {
  FrameDecoder,
  PayloadWriter,
  encodeFrame,
  frameBytesMax,
  frameHeaderBytes,
  frameType,
  inletCreditBytes,
} from '../../../src/jail/launch/frames.ts'
import { readNumbers } from './c-source.ts'

test('frames have the numbers and bounds that the launcher knows', () => {
  const numbers = readNumbers()
  const camelCase = (name: string) =>
    name.toLowerCase().replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())
  const types = Object.entries(numbers).filter(([name]) => /^FRAME_(?!HEADER_BYTES|BYTES_MAX)/.test(name))
  assert.deepEqual(
    Object.fromEntries(types.map(([name, value]) => [camelCase(name.slice('FRAME_'.length)), value])),
    frameType,
  )
  assert.deepEqual(
    [frameHeaderBytes, frameBytesMax, inletCreditBytes],
    [numbers['FRAME_HEADER_BYTES'], numbers['FRAME_BYTES_MAX'], numbers['INLET_BYTES']],
  )
})

test('frames arrive completely and in order, wherever the stream is split', () => {
  const frame = fc.record(
    {
      type: fc.integer({ min: 0, max: 255 }),
      id: fc.integer({ min: 0, max: 0xffff_ffff }),
      payload: fc.uint8Array({ maxLength: 50 }),
    },
    { noNullPrototype: true },
  )
  fc.assert(
    fc.property(fc.array(frame, { maxLength: 8 }), fc.array(fc.nat(200)), (frames, cuts) => {
      const stream = Buffer.concat(frames.map(({ type, id, payload }) => encodeFrame(type, id, payload)))
      const decoder = new FrameDecoder()
      const places = [
        0,
        ...cuts.map((cut) => Math.min(cut, stream.length)).toSorted((a, b) => a - b),
        stream.length,
      ]
      const decoded = places
        .slice(1)
        .flatMap((end, index) =>
          decoder
            .push(stream.subarray(places[index], end))
            .map(({ type, id, payload }) => ({ type, id, payload: Uint8Array.from(payload) })),
        )
      assert.deepEqual(decoded, frames)
    }),
  )
})

test('a frame that declares a length above the bound is refused at once', () => {
  const header = Buffer.alloc(frameHeaderBytes)
  header.writeUInt32LE(frameBytesMax + 1)
  assert.throws(() => new FrameDecoder().push(header), /1048577 bytes/)
  header.writeUInt32LE(frameBytesMax)
  assert.deepEqual(new FrameDecoder().push(header), [])
})

test('payloads are little-endian, length-prefixed, and texts end in NUL', () => {
  const payload = new PayloadWriter()
    .u32(1)
    .u64(2)
    .bytes(Buffer.from([9]))
    .string('é')
    .finish()
  assert.equal(
    payload.toString('hex'),
    ['01000000', '0200000000000000', '0100000009', '03000000c3a900'].join(''),
  )
})

test('a text that contains NUL is refused', () => {
  assert.throws(() => new PayloadWriter().string('a\0b'), RangeError)
})
