import assert from 'node:assert/strict'
import { test } from 'node:test'

import { Log } from '../../../src/sandbox/processes/log.ts'
import { keepLoopFree } from '../../support/machine/loop-delay.ts'

const piece = (text: string) => ({ stream: 'stdout', bytes: Buffer.from(text), text, atMs: 0 }) as const

test('adding single bytes to a full log does not block the event loop', async () => {
  const log = new Log()
  const addMany = () => {
    for (let count = 0; count < 5_000; count++) log.add(piece('a'))
  }
  addMany()
  await keepLoopFree('5,000 pieces of one byte', async () => addMany())
})

test('a hundred concurrent searches of a full log do not block the event loop', async () => {
  const log = new Log()
  for (let count = 0; count < 20_000; count++) log.add(piece('a'))
  log.end()
  const look = async () => {
    const texts = []
    for await (const text of log.newLines(async () => undefined, new AbortController().signal))
      texts.push(text)
    return texts.join('').length
  }
  const lengths = await keepLoopFree('a hundred looks', () => Promise.all(Array.from({ length: 100 }, look)))
  assert.deepEqual(new Set(lengths), new Set([log.text().stdout.length]))
})

test('a log keeps the newest pieces, and a follower starts with the oldest of these', async () => {
  const log = new Log()
  for (let count = 0; count < 100_000; count++) log.add(piece(`${count}\n`))
  log.end()
  const lines = log.text().stdout.trimEnd().split('\n')
  assert.equal(lines.at(-1), '99999')
  assert.ok(lines.length > 10_000 && lines.length < 20_000, `It kept ${lines.length} lines.`)
  const followed = []
  for await (const { text } of log.follow()) followed.push(text.trimEnd())
  assert.deepEqual(followed, lines)
})
