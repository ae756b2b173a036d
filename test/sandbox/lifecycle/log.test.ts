/** The log of a process: what is kept, who makes room for whom, and what followers and searches get. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { HostAccount } from '../../../src/core/host-account.ts'
import type { OutputChunk } from '../../../src/core/request.ts'
import { LogRoom, endedBytesMax } from '../../../src/sandbox/processes/log-room.ts'
import { Log } from '../../../src/sandbox/processes/log.ts'
import { keepLoopFree } from '../../support/machine/loop-delay.ts'

const MiB = 1024 * 1024
const open = (bytesMax = 512 * MiB) => {
  const account = new HostAccount(bytesMax)
  const room = new LogRoom(account, 'ada')
  const start = () => {
    const log = new Log(room)
    room.add(log)
    return log
  }
  const end = (log: Log) => {
    log.end()
    room.end(log)
    return log
  }
  return { account, room, start, end, held: () => account.stats.kinds.logs }
}

/** Each piece at another millisecond, so that they are not one. */
const fill = (log: Log, count: number, text = 'a') => {
  for (let piece = 0; piece < count; piece++) log.add('stdout', Buffer.from(text), 2 * piece)
}

test('adding single bytes to a full log does not block the event loop', async () => {
  const log = open().start()
  fill(log, 5_000)
  await keepLoopFree('5,000 pieces of one byte', async () => fill(log, 5_000))
})

test('a hundred concurrent searches of a full log do not block the event loop', async () => {
  const { start, end } = open()
  const log = start()
  fill(log, 20_000)
  end(log)
  const look = async () => {
    let length = 0
    for await (const read of log.newLines(async () => undefined, new AbortController().signal))
      length += (await read()).length
    return length
  }
  const lengths = await keepLoopFree('a hundred looks', () => Promise.all(Array.from({ length: 100 }, look)))
  assert.deepEqual(new Set(lengths), new Set([log.text().stdout.length]))
})

test('a log keeps the newest pieces, and a follower starts with the oldest of these', async () => {
  const { start, end } = open()
  const log = start()
  for (let count = 0; count < 100_000; count++) log.add('stdout', Buffer.from(`${count}\n`), 2 * count)
  const { stdout, truncated } = end(log).text()
  const lines = stdout.trimEnd().split('\n')
  assert.equal(lines.at(-1), '99999')
  assert.ok(lines.length > 30_000 && lines.length < 50_000, `It kept ${lines.length} lines.`)
  assert.deepEqual(truncated, ['stdout'])
  assert.equal((await follow(log)).map(({ text }) => text).join(''), stdout)
})

async function follow(log: Log): Promise<OutputChunk[]> {
  const chunks = []
  for await (const chunk of log.follow()) chunks.push(chunk)
  return chunks
}

test('followers get both streams in order, and whole characters, however the bytes arrive', async () => {
  const { start, end } = open()
  const log = start()
  const followed = follow(log)
  for (const [index, byte] of [...Buffer.from('a€😀\u00e9')].entries())
    log.add('stdout', Buffer.of(byte), 2 * index)
  log.add('stderr', Buffer.from('no'), 50)
  log.add('stdout', Buffer.from('yes'), 60)
  end(log)
  const chunks = await followed
  const texts = (stream: string) => chunks.flatMap((chunk) => (chunk.stream === stream ? [chunk.text] : []))
  assert.equal(texts('stdout').join(''), 'a€😀\u00e9yes')
  assert.ok(!texts('stdout').join('').includes('\uFFFD'))
  assert.deepEqual(
    chunks.slice(-3).map(({ stream, text }) => `${stream} ${text}`.replace(/a.*é/u, '')),
    ['stdout ', 'stderr no', 'stdout yes'],
  )
  assert.deepEqual(Buffer.concat(chunks.map(({ bytes }) => bytes)).length, 15)
})

test('two hundred followers of single bytes of both streams take turns, and share what they get', async () => {
  const { start, end } = open()
  const log = start()
  const followers = Array.from({ length: 200 }, () => follow(log))
  const pieces = 400
  const got = await keepLoopFree('200 followers', async () => {
    for (let count = 0; count < pieces; count++) {
      log.add(count % 2 === 0 ? 'stdout' : 'stderr', Buffer.from('a'), 2 * count)
      if (count % 20 === 0) await new Promise((resolve) => setTimeout(resolve, 1))
    }
    end(log)
    return Promise.all(followers)
  })
  for (const chunks of got)
    assert.equal(
      chunks.reduce((sum, { bytes }) => sum + bytes.length, 0),
      pieces,
    )
  const all = got.flat()
  const distinct = new Set(all).size
  assert.ok(all.length < 200 * 60, `${all.length} chunks were sent instead of ${200 * pieces}`)
  assert.ok(distinct * 20 < all.length, `${distinct} of ${all.length} chunks were made`)
})

test('the logs of ended processes have one bound, the newest stay, and the answer says what is missing', () => {
  const { start, end, held } = open()
  const logs = Array.from({ length: 24 }, () => {
    const log = start()
    for (const stream of ['stdout', 'stderr'] as const) log.add(stream, Buffer.alloc(MiB, 'a'), 0)
    return end(log)
  })
  const bytes = logs.reduce((sum, log) => sum + log.bytes, 0)
  assert.ok(bytes <= endedBytesMax && bytes > endedBytesMax / 2, `${bytes} bytes are kept`)
  assert.equal(held(), bytes)
  assert.deepEqual(logs[0]?.text(), { stdout: '', stderr: '', truncated: ['stdout', 'stderr'] })
  assert.ok((logs.at(-1)?.text().stdout.length ?? 0) > MiB / 2)
})

test('a short log takes little memory, and none when it is removed', () => {
  const { room, start, end, held } = open()
  const log = start()
  log.add('stdout', Buffer.from('short'), 0)
  assert.ok(held() >= 1024)
  end(log)
  assert.ok(held() < 100)
  room.remove(log)
  assert.equal(held(), 0)
})

test('logs make room for everything else of their client, those of ended processes first', () => {
  const { account, start, end, held } = open(8 * MiB)
  const [ended, running] = [start(), start()]
  for (const log of [ended, running]) log.add('stdout', Buffer.alloc(MiB, 'a'), 0)
  end(ended)
  const before = held()
  using body = account.reserve({ client: 'ada', kind: 'bodies' }, 3 * MiB)
  assert.ok(held() <= MiB && held() < before)
  assert.equal(ended.bytes, 0)
  assert.ok(running.bytes > MiB / 2)
  assert.throws(() => account.reserve({ client: 'bob', kind: 'bodies' }, 3 * MiB), { code: 'QUEUE_FULL' })
  assert.equal(body.bytes, 3 * MiB)
})

test('a log that finds no room keeps the newest output, and says so', () => {
  const { account, start, held } = open(MiB)
  using others = account.reserve({ client: 'bob', kind: 'bodies' }, MiB / 2)
  const log = start()
  for (let count = 0; count < 64; count++)
    log.add('stdout', Buffer.from(`${count}`.padEnd(8192, 'a')), 2 * count)
  const { stdout, truncated } = log.text()
  assert.match(stdout, /63a+$/)
  assert.deepEqual(truncated, ['stdout'])
  assert.ok(held() <= (MiB - others.bytes) / 2)
})
