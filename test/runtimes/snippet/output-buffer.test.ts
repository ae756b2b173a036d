/** The output buffer of snippets: as large as the output, up to the cap. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { createOutputBuffer, OutputWriter, readOutput } from '../../../src/runtimes/snippet/output-buffer.ts'

const MiB = 1024 * 1024

test('a program that emits little takes little, however much it may emit', () => {
  const buffer = createOutputBuffer(10 * MiB)
  const writer = new OutputWriter(buffer)
  assert.equal(writer.capBytes, 10 * MiB)
  assert.ok(writer.append('little'))
  writer.finish()
  assert.equal(readOutput(buffer), 'little')
  assert.ok(buffer.byteLength < 64 * 1024, `${buffer.byteLength} bytes`)
})

test('the cap is reached to the byte, in steps or at once, and no character is cut', () => {
  for (const piece of ['x', '€', 'abc'.repeat(10_000)]) {
    const capBytes = 100_001
    const buffer = createOutputBuffer(capBytes)
    const writer = new OutputWriter(buffer)
    let expected = ''
    while (writer.append(piece)) expected += piece
    const rest = readOutput(buffer).slice(expected.length)
    assert.ok(piece.startsWith(rest) && rest !== piece)
    const bytes = Buffer.byteLength(expected + rest)
    assert.ok(bytes <= capBytes && bytes > capBytes - Buffer.byteLength(piece.slice(0, 1)), String(bytes))
    assert.ok(buffer.byteLength <= capBytes + 8)
  }
  const tiny = createOutputBuffer(0)
  assert.equal(new OutputWriter(tiny).append('x'), false)
  assert.equal(readOutput(tiny), '')
})
