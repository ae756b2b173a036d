import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inletCreditBytes } from '../../../src/jail/launch/frames.ts'
import { Inlet } from '../../../src/jail/cell/inlet.ts'

test('queued bytes are sent in order as credit arrives, completely and once, followed by the end', async () => {
  const sent: Buffer[] = []
  let ends = 0
  const inlet = new Inlet({ send: (bytes) => void sent.push(Buffer.from(bytes)), end: () => ends++ })
  const first = Buffer.alloc(inletCreditBytes + 3, 'a')
  const writes = [first, Buffer.from('bcd'), Buffer.from('e'), Buffer.from('fgh')].map((bytes) =>
    inlet.write(bytes),
  )
  first.fill('z')
  inlet.end()
  for (const room of [1, 1, 3, 2]) inlet.give(room)
  assert.equal(Buffer.concat(sent).toString().slice(inletCreditBytes), 'aaabcde')
  assert.equal(ends, 0)
  inlet.give(100)
  await Promise.all(writes)
  assert.equal(Buffer.concat(sent).toString(), `${'a'.repeat(inletCreditBytes + 3)}bcdefgh`)
  assert.equal(ends, 1)
})

test('abandoned bytes are not sent, and their writes do not stay pending', async () => {
  const sent: Uint8Array[] = []
  const inlet = new Inlet({ send: (bytes) => void sent.push(bytes), end: () => undefined })
  const writes = [inlet.write(Buffer.alloc(inletCreditBytes)), inlet.write(Buffer.from('a'))]
  inlet.abandon()
  inlet.give(10)
  await Promise.all(writes)
  assert.equal(Buffer.concat(sent).length, inletCreditBytes)
})
