import assert from 'node:assert/strict'
import { test } from 'node:test'

import { dnsCodes, dnsTypes, readQuestion, writeAnswer } from '../../../src/jail/edge/dns-message.ts'
import { isHostName } from '../../../src/jail/edge/host-names.ts'
import { fuzzResolver } from '../../../scripts/fuzzing/resolver.ts'
import { fixedSeed } from '../../support/seed.ts'
import { seededRandom } from '../../support/seeded-random.ts'

function ask(labels: readonly (string | Buffer)[], type: number = dnsTypes.a, flags = 0x0100): Buffer {
  const header = Buffer.from([0xab, 0xcd, flags >> 8, flags & 0xff, 0, 1, 0, 0, 0, 0, 0, 0])
  const name = labels.flatMap((label) => [Buffer.from([Buffer.from(label).length]), Buffer.from(label)])
  return Buffer.concat([header, ...name, Buffer.from([0, type >> 8, type & 0xff, 0, 1])])
}

test('a question is read, and its answer repeats it', () => {
  const datagram = ask(['API', 'example', 'com'])
  const question = readQuestion(datagram)
  assert.ok(typeof question === 'object')
  assert.deepEqual([question.name, question.type, question.isInternet], ['api.example.com', 1, true])
  const answer = writeAnswer(datagram, question, {
    code: dnsCodes.ok,
    address: '198.18.0.1',
    lifeSeconds: 60,
  })
  assert.equal(
    answer.toString('hex'),
    'abcd85800001000100000000' + datagram.toString('hex', 12) + 'c00c000100010000003c0004c6120001',
  )
})

test('what follows the question, such as EDNS, is not repeated', () => {
  const datagram = Buffer.concat([ask(['a', 'test']), Buffer.from('0000291000000000000000', 'hex')])
  const question = readQuestion(datagram)
  assert.ok(typeof question === 'object')
  assert.equal(writeAnswer(datagram, question, { code: dnsCodes.noName }).length, ask(['a', 'test']).length)
})

test('invalid names are not returned, and answers are not questions', () => {
  for (const labels of [['a.b'], ['a\0'], ['ä'], ['a', '-b'], [' '], ['127', '0', '0', '1'], []]) {
    const question = readQuestion(ask(labels))
    assert.ok(typeof question === 'object' && question.name === undefined, String(labels))
  }
  assert.equal(readQuestion(ask(['a'], 1, 0x8000)), undefined)
  assert.equal(readQuestion(Buffer.alloc(11)), undefined)
  assert.equal(readQuestion(ask(['a'], 1, 0x2800)), 'malformed')
  // A compression pointer, and an unterminated name.
  assert.equal(
    readQuestion(Buffer.concat([ask([]).subarray(0, 12), Buffer.from('c00c00010001', 'hex')])),
    'malformed',
  )
  assert.equal(readQuestion(ask(Array.from({ length: 130 }, () => 'a'))), 'malformed')
})

test('whatever bytes arrive, there is a bounded answer or none, and never an invalid name', () => {
  const random = seededRandom(22)
  const below = (end: number) => Math.floor(random() * end)
  for (let round = 0; round < 200_000; round++) {
    const datagram = Buffer.from(round % 2 === 0 ? ask(['some', 'name', 'test']) : Buffer.alloc(below(64)))
    for (let change = below(8); change > 0 && datagram.length > 0; change--)
      datagram[below(datagram.length)] = below(256)
    const cut = datagram.subarray(0, below(datagram.length + 1))
    const question = readQuestion(cut)
    if (question === undefined) continue
    const read = question === 'malformed' ? undefined : question
    assert.ok(read?.name === undefined || isHostName(read.name))
    const answer = writeAnswer(cut, read, { code: dnsCodes.ok, address: '198.18.0.1' })
    assert.ok(answer.length <= cut.length + 16)
    assert.equal(answer.readUInt16BE(0), cut.readUInt16BE(0))
  }
})

test('a modified question never gives a name that differs from its bytes', () => {
  const { ends } = fuzzResolver(seededRandom(fixedSeed), (datagrams) => datagrams < 30_000)
  for (const end of ['silence', 'malformed', 'no name', 'refused', 'allowed'])
    assert.ok((ends[end] ?? 0) > 100, `${end}: ${JSON.stringify(ends)}`)
})
