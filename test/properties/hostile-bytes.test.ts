/**
 * All host code that reads bytes of a launcher or a guest, with nearly valid bytes: real streams with a few of them
 * changed, removed, duplicated or split differently.
 */
import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { describe, test } from 'node:test'

import { freeBudget } from '../support/free-budget.ts'
import fc from '../support/fast-check.ts'

import { defaultLimits } from '../../src/core/limits.ts'
import { decodeUntrusted, encodeValue } from '../../src/core/values/values.ts'
import {
  FrameDecoder,
  PayloadWriter,
  encodeFrame,
  frameBytesMax,
  frameHeaderBytes,
  frameType,
} from '../../src/jail/launch/frames.ts'
import { decodeExit, encodeSpawn } from '../../src/jail/launch/spawn-frame.ts'
import { Channel } from '../../src/runtimes/channel/channel.ts'
import { FileReceiver, decodeListing, isWholeListing } from '../../src/runtimes/collect/listing.ts'
import { frameMessage } from '../../src/runtimes/channel/message-frame.ts'
import { anyValue } from './any-value.ts'

interface Change {
  readonly kind: 'set' | 'remove' | 'double' | 'zero' | 'fill'
  readonly at: number
  readonly to: number
}

const change: fc.Arbitrary<Change> = fc.record({
  kind: fc.constantFrom('set', 'remove', 'double', 'zero', 'fill'),
  at: fc.nat(1_000_000),
  to: fc.nat(255),
})
const changes = fc.array(change, { maxLength: 6 })
const cuts = fc.array(fc.nat(1_000_000), { maxLength: 10 })

function applyChanges(bytes: Buffer, list: readonly Change[]): Buffer {
  return list.reduce((before, { kind, at, to }) => {
    if (before.length === 0) return before
    const place = at % before.length
    const [head, tail] = [before.subarray(0, place), before.subarray(place)]
    if (kind === 'remove') return Buffer.concat([head, tail.subarray(1 + (to % 8))])
    if (kind === 'double') return Buffer.concat([head, tail.subarray(0, to), tail])
    const piece = kind === 'set' ? Buffer.from([to]) : Buffer.alloc(4, kind === 'zero' ? 0 : 0xff)
    return Buffer.concat([head, piece, tail.subarray(piece.length)])
  }, bytes)
}

function cutUp(bytes: Buffer, places: readonly number[]): Buffer[] {
  const ends = places.map((place) => place % (bytes.length + 1)).toSorted((a, b) => a - b)
  return [...ends, bytes.length].map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end))
}

const deaf = { elapsed: () => 0, onFlood: () => undefined, onEnd: () => undefined, budget: freeBudget() }

describe('frames of a launcher', () => {
  const types = Object.values(frameType)
  const frame = fc
    .tuple(fc.constantFrom(...types), fc.nat(3), fc.uint8Array({ maxLength: 80, size: 'max' }))
    .map(([type, id, payload]) => encodeFrame(type, id, payload))
  const stream = fc.array(frame, { maxLength: 6 }).map((frames) => Buffer.concat(frames))

  /** The decoder's results for these pieces, and whether it finally refused the stream. */
  function decode(pieces: readonly Buffer[]): { frames: Buffer[]; isRefused: boolean } {
    const decoder = new FrameDecoder()
    const frames: Buffer[] = []
    try {
      for (const piece of pieces)
        for (const { type, id, payload } of decoder.push(piece)) frames.push(encodeFrame(type, id, payload))
    } catch (error) {
      assert.match((error as Error).message, /^A frame of \d+ bytes arrived/)
      return { frames, isRefused: true }
    }
    return { frames, isRefused: false }
  }

  test('are those in the stream, however it was changed and split', () => {
    fc.assert(
      fc.property(stream, changes, cuts, (whole, list, places) => {
        const bytes = applyChanges(whole, list)
        const inPieces = decode(cutUp(bytes, places))
        const { frames, isRefused } = decode([bytes])
        const decoded = Buffer.concat(inPieces.frames)
        assert.ok(bytes.subarray(0, decoded.length).equals(decoded), 'a frame that nobody sent')
        assert.equal(inPieces.isRefused, isRefused)
        // In one piece, a refused frame also discards the frames before it; the cell ends in either case.
        if (isRefused) return
        assert.deepEqual(inPieces.frames, frames)
        assert.ok(bytes.length - decoded.length < frameHeaderBytes + frameBytesMax)
      }),
      { numRuns: 2000 },
    )
  })

  test('that report an exit are read completely or not at all', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80, size: 'max' }), (bytes) => {
        const payload = Buffer.from(bytes)
        if (payload.length < 66) assert.throws(() => decodeExit(payload), RangeError)
        else {
          const { cpuMs, elapsedMs, residentPeakBytes, end } = decodeExit(payload)
          for (const value of [cpuMs, elapsedMs, residentPeakBytes])
            assert.ok(Number.isFinite(value) && value >= 0)
          assert.ok(end.by === 'exit' || end.signal.startsWith('SIG'))
        }
      }),
      { numRuns: 2000 },
    )
  })
})

describe('a spawn frame', () => {
  const text = fc.string({ unit: 'binary', maxLength: 12 })
  const size = fc.nat(2 ** 31)

  /** The launcher's take_program in TypeScript, for comparison. */
  function readSpawn(payload: Buffer): { strings: string[]; rest: number } {
    let at = 4 + 7 * 8
    const u32 = () => payload.readUInt32LE((at += 4) - 4)
    const string = () => {
      const length = u32()
      at += length
      assert.equal(payload[at - 1], 0)
      return payload.toString('utf8', at - length, at - 1)
    }
    const strings = [string(), string()]
    const rlimits = u32()
    at += rlimits * 20
    for (let list = 0; list < 2; list++) for (let count = u32(); count > 0; count--) strings.push(string())
    return { strings, rest: payload.length - at }
  }

  test('contains the request, and refuses a text with a NUL character', () => {
    fc.assert(
      fc.property(
        text,
        text,
        fc.array(text, { maxLength: 4 }),
        text,
        size,
        (file, folder, argv, value, outputBytes) => {
          const spec = {
            file,
            folder,
            argv,
            env: { NAME: value },
            rlimits: [{ resource: 7, soft: 1, hard: 2 }],
            wallMs: 1,
            outputBytes,
            watched: { memoryBytes: null, cpuMs: 3, socketBytes: null, tasksMax: null, filesMax: null },
          }
          const texts = [folder, file, ...argv, `NAME=${value}`]
          if (texts.some((one) => one.includes('\0')))
            return assert.throws(() => encodeSpawn(spec), RangeError)
          const { strings, rest } = readSpawn(encodeSpawn(spec))
          assert.deepEqual(
            strings,
            texts.map((one) => one.toWellFormed()),
          )
          assert.equal(rest, 0)
        },
      ),
      { numRuns: 2000 },
    )
  })
})

describe('messages of a guest', () => {
  const limits = { ...defaultLimits, resultBytes: 4096, outputBytes: 2048 }
  const message = fc.oneof(
    fc.record({ type: fc.constant('log'), level: fc.constantFrom('log', 'warn', 'no'), text: fc.string() }),
    fc.record({
      type: fc.constant('value'),
      text: fc.string(),
      value: fc.jsonValue(),
      truncated: fc.boolean(),
    }),
    fc.record({
      type: fc.constant('display'),
      bundle: fc.dictionary(fc.string(), fc.oneof(fc.string(), fc.integer())),
    }),
    fc.record({
      type: fc.constant('error'),
      phase: fc.constantFrom('run', 'syntax', 'x'),
      error: fc.jsonValue(),
    }),
    fc.record({ type: fc.constantFrom('call', '__proto__', 'constructor'), id: fc.jsonValue() }),
  )
  const stream = fc.array(message, { maxLength: 8 }).map((messages) => {
    return Buffer.concat(messages.map((one) => frameMessage(JSON.stringify(one))))
  })

  test('become bounded claims, however they were changed and split', () => {
    fc.assert(
      fc.property(stream, changes, cuts, (whole, list, places) => {
        const bytes = applyChanges(whole, list)
        const results = [[bytes], cutUp(bytes, places)].map((pieces) => {
          const duplex = new PassThrough()
          const channel = new Channel(duplex, limits, deaf)
          for (const piece of pieces) duplex.emit('data', piece)
          return { claims: channel.claims, truncated: [...channel.truncated] }
        })
        const [inOne, inPieces] = results
        assert.deepEqual(inPieces, inOne)
        const { logs, displays, error } = inOne?.claims ?? { logs: [], displays: [] }
        const sum = (texts: readonly string[]) =>
          texts.reduce((bytesOf, one) => bytesOf + Buffer.byteLength(one), 0)
        assert.ok(sum(logs.map(({ text }) => text)) <= limits.outputBytes)
        assert.ok(sum(displays.flatMap((bundle) => Object.values(bundle))) <= 3 * limits.resultBytes)
        if (error !== undefined) assert.equal(typeof error.error.message, 'string')
        assert.equal(({} as Record<string, unknown>)['type'], undefined, 'a prototype was changed')
      }),
      { numRuns: 2000 },
    )
  })

  test('that go to a guest are their length and their text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (json) => {
        const framed = frameMessage(json)
        assert.equal(framed.readUInt32LE(0), framed.length - 4)
        assert.equal(framed.toString('utf8', 4), json.toWellFormed())
      }),
    )
  })

  test('that contain a value decode without an error, however its JSON was changed', () => {
    fc.assert(
      fc.property(anyValue, changes, (value, list) => {
        const json = JSON.stringify(encodeValue(value).value)
        const changed = applyChanges(Buffer.from(json), list).toString()
        let tagged: unknown
        try {
          tagged = JSON.parse(changed)
        } catch {
          return
        }
        assert.equal(typeof decodeUntrusted(tagged).truncated, 'boolean')
      }),
      { numRuns: 500 },
    )
  })
})

function encodeListing(files: readonly { readonly path: string; readonly bytes: number }[]): Buffer {
  const payload = new PayloadWriter()
  for (const { path, bytes } of files) payload.u64(bytes).u32(0o100644).bytes(Buffer.from(path))
  return payload.u64(0).u32(0).u32(0).finish()
}

describe('what a collector writes', () => {
  const file = fc.record({ path: fc.string({ minLength: 1, maxLength: 20 }), bytes: fc.nat(50) })

  test('lists only paths inside the folder, however it was changed', () => {
    fc.assert(
      fc.property(fc.array(file, { maxLength: 6 }), changes, (files, list) => {
        const listed = applyChanges(encodeListing(files), list)
        const entries = [...decodeListing(listed)]
        assert.equal(typeof isWholeListing(listed), 'boolean')
        for (const { path, bytes } of entries) {
          assert.ok(!path.startsWith('/') && !path.split('/').includes('..'), path)
          assert.ok(bytes >= 0)
        }
        assert.ok(entries.reduce((sum, { path }) => sum + Buffer.byteLength(path), 0) <= 3 * listed.length)
      }),
      { numRuns: 2000 },
    )
  })

  test('never uses more memory than was requested', () => {
    const word = (value: number) => Buffer.from(Uint32Array.of(value).buffer)
    const answer = fc.uint8Array({ maxLength: 60 }).map((bytes) => {
      return Buffer.concat([word(0), word(bytes.length), Buffer.from(bytes), word(0)])
    })
    fc.assert(
      fc.property(
        fc.array(file, { maxLength: 4 }),
        fc.array(answer, { maxLength: 6 }),
        changes,
        cuts,
        (files, answers, list, places) => {
          const receiver = new FileReceiver(files)
          for (const piece of cutUp(applyChanges(Buffer.concat(answers), list), places)) receiver.push(piece)
          for (const [path, content] of receiver.files)
            assert.ok(
              files.some((wanted) => wanted.path === path && content.length <= wanted.bytes),
              path,
            )
          assert.ok(receiver.files.length <= files.length)
        },
      ),
      { numRuns: 2000 },
    )
  })
})
