/** The host's own lookups of a name: its addresses and, on request, its aliases, or nothing. */
import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { Resolver } from 'node:dns/promises'
import { once } from 'node:events'
import { test } from 'node:test'

import { systemClock } from '../../../src/core/clock.ts'
import { followAliases, Lookups, resolveName } from '../../../src/jail/edge/lookups.ts'

const typeA = 1

/**
 * A name server that knows aliases, fails for one name, has an endless chain for another, and rotates its addresses.
 */
async function serve(): Promise<{ readonly resolver: Resolver } & AsyncDisposable> {
  const aliases: Readonly<Record<string, string>> = {
    'a.test': 'b.test',
    'b.test': 'c.test',
    'loop.test': 'loop.test',
    'turning.test': 'c.test',
  }
  const addresses: Readonly<Record<string, readonly number[]>> = {
    'c.test': [192, 0, 2, 1],
    'turning.test': [192, 0, 2, 66],
  }
  const socket = createSocket('udp4', (question, { address, port }) => {
    const labels: string[] = []
    let at = 12
    for (; question.readUInt8(at) > 0; at += 1 + question.readUInt8(at))
      labels.push(question.toString('latin1', at + 1, at + 1 + question.readUInt8(at)))
    const end = at + 5
    const name = labels.join('.').toLowerCase()
    const four = question.readUInt16BE(end - 4) === typeA ? addresses[name] : undefined
    const alias = four === undefined ? aliases[name] : undefined
    const head = Buffer.from(question.subarray(0, 12))
    head.writeUInt16BE(name === 'broken.test' ? 0x8182 : 0x8180, 2)
    head.writeUInt16BE(alias === undefined && four === undefined ? 0 : 1, 6)
    head.writeUInt32BE(0, 8)
    const target = Buffer.concat(
      (alias?.split('.') ?? []).map((label) => Buffer.from([label.length, ...Buffer.from(label)])),
    )
    const record = Buffer.from([0xc0, 12, 0, 5, 0, 1, 0, 0, 0, 0, 0, target.length + 1])
    const answer = alias === undefined ? [] : [record, target, Buffer.alloc(1)]
    if (four !== undefined) answer.push(Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, ...four]))
    socket.send(Buffer.concat([head, question.subarray(12, end), ...answer]), port, address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  const resolver = new Resolver({ timeout: 500, tries: 1 })
  resolver.setServers([`127.0.0.1:${socket.address().port}`])
  return {
    resolver,
    async [Symbol.asyncDispose]() {
      resolver.cancel()
      socket.close()
      await once(socket, 'close')
    },
  }
}

test('aliases are followed to their end, and an unknown chain gives no answer', async () => {
  await using names = await serve()
  assert.deepEqual(await followAliases(names.resolver, 'a.test'), ['b.test', 'c.test'])
  assert.deepEqual(await followAliases(names.resolver, 'c.test'), [])
  await assert.rejects(followAliases(names.resolver, 'loop.test'), /too long/)
  await assert.rejects(followAliases(names.resolver, 'broken.test'), { code: 'ESERVFAIL' })
})

test('addresses are those of the checked aliases, even if the name changes afterwards', async () => {
  await using names = await serve()
  assert.deepEqual(await resolveName(names.resolver, 'turning.test', true), ['192.0.2.1', 'c.test'])
  assert.deepEqual(await resolveName(names.resolver, 'turning.test', false), ['192.0.2.66'])
  assert.deepEqual(await resolveName(names.resolver, 'a.test', true), ['192.0.2.1', 'b.test', 'c.test'])
})

test('slow names of very many guests delay another one by a turn of each, and do not stop it', async () => {
  const asked: { readonly name: string; readonly answer: (addresses: string[]) => void }[] = []
  const lookup = (name: string) =>
    new Promise<string[]>((answer) => {
      asked.push({ name, answer })
    })
  using lookups = new Lookups(systemClock, lookup)
  const slow = Array.from({ length: 120 }, () => lookups.openOne())
  const pending = slow.flatMap((look) => Array.from({ length: 40 }, () => look('slow.test')))
  const other = lookups.openOne()('fast.test')
  const answerNext = async () => {
    asked.shift()?.answer(['192.0.2.1'])
    await new Promise(setImmediate)
  }
  await new Promise(setImmediate)
  assert.equal(asked.length, 256)
  let answered = 0
  const isAsked = () => asked.some(({ name }) => name === 'fast.test')
  for (; answered < slow.length && !isAsked(); answered++) await answerNext()
  assert.ok(isAsked(), `${answered} others came first`)
  while (asked.length > 0) await answerNext()
  assert.deepEqual(await other, ['192.0.2.1'])
  assert.ok((await Promise.all(pending)).every(([address]) => address === '192.0.2.1'))
})

test('one guest may wait for about a thousand names, and further ones have no answer', async () => {
  const answers: ((addresses: string[]) => void)[] = []
  using lookups = new Lookups(systemClock, () => new Promise((answer) => answers.push(answer)))
  const look = lookups.openOne()
  const pending = Array.from({ length: 2000 }, () => look('slow.test'))
  await new Promise(setImmediate)
  assert.equal(answers.length, 16)
  for (let answered = 0; answered < answers.length; answered++) {
    answers[answered]?.(['192.0.2.1'])
    await new Promise(setImmediate)
  }
  const found = (await Promise.all(pending)).filter(({ length }) => length > 0)
  assert.equal(found.length, 16 + 1024)
})
