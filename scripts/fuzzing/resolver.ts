/**
 * The parser of a cell's resolver against datagrams of a guest: real questions, changed at random. It must
 * never throw, never read a name that is not in the bytes, and answer only the question.
 */
import assert from 'node:assert/strict'

import { dnsTypes, readQuestion, writeAnswer } from '../../src/jail/edge/dns-message.ts'
import type { DnsQuestion } from '../../src/jail/edge/dns-message.ts'
import { NetworkRules } from '../../src/jail/edge/rules.ts'

export interface ResolverFuzzed {
  readonly datagrams: number
  /** How many had each result: 'silence', 'malformed', 'no name', 'refused', 'allowed'. */
  readonly ends: Readonly<Record<string, number>>
}

const headerBytes = 12
const rules = new NetworkRules({ allow: ['good.example', '*.example.org'], deny: ['bad.example.org'] })
const names = [
  ...[
    'good.example',
    'www.example.org',
    'a.b.c.example.org',
    'bad.example.org',
    'example.org',
    'evil.example',
  ],
  ...['GOOD.eXample', 'xn--bcher-kva.example.org', 'localhost', `${'a'.repeat(63)}.example.org`, ''],
]

/** `random` returns numbers below 1. `goesOn` is asked every thousand datagrams whether to continue. */
export function fuzzResolver(random: () => number, goesOn: (datagrams: number) => boolean): ResolverFuzzed {
  const ends: Record<string, number> = {}
  let datagrams = 0
  while (datagrams % 1000 !== 0 || goesOn(datagrams)) {
    const datagram = anyDatagram(random)
    const end = checkOne(datagram)
    ends[end] = (ends[end] ?? 0) + 1
    datagrams++
  }
  return { datagrams, ends }
}

function checkOne(datagram: Buffer): string {
  const before = Buffer.from(datagram)
  const question = readQuestion(datagram)
  assert.deepEqual(datagram, before, 'the datagram was changed')
  if (question === undefined) return 'silence'
  if (question === 'malformed') {
    const answer = writeAnswer(datagram, undefined, { code: 1 })
    assert.equal(answer.length, headerBytes)
    return 'malformed'
  }
  const labels = labelsOf(datagram)
  const said = labels.map((label) => label.toLowerCase()).join('.')
  checkAnswer(datagram, question)
  if (question.name === undefined) return 'no name'
  assert.equal(question.name, said, 'not the name in the bytes')
  const isAllowed = rules.judgeName(question.name) === undefined
  assert.equal(isAllowed, mayBeReached(labels), `${JSON.stringify(labels)} was judged differently`)
  return isAllowed ? 'allowed' : 'refused'
}

/** A second implementation of the rules, on labels, so that no dot, case or truncation can merge two names. */
function mayBeReached(labels: readonly string[]): boolean {
  const [top, second, third, ...below] = labels.map((label) => label.toLowerCase()).toReversed()
  if (top === 'example') return second === 'good' && third === undefined
  if (top !== 'org' || second !== 'example' || third === undefined) return false
  return third !== 'bad' || below.length > 0
}

/** Recursive over slices, where the parser counts offsets. */
function labelsOf(datagram: Buffer, from = headerBytes): string[] {
  const length = datagram[from] ?? 0
  if (length === 0) return []
  const label = datagram.subarray(from + 1, from + 1 + length).toString('latin1')
  return [label, ...labelsOf(datagram, from + 1 + length)]
}

function checkAnswer(datagram: Buffer, question: DnsQuestion): void {
  assert.ok(question.end <= datagram.length, 'the question ends after the datagram')
  const asked = datagram.subarray(headerBytes, question.end)
  const answer = writeAnswer(datagram, question, { code: 0, address: '198.18.0.7', lifeSeconds: 60 })
  assert.deepEqual(answer.subarray(0, 2), datagram.subarray(0, 2), 'the id differs')
  assert.deepEqual(answer.subarray(headerBytes, headerBytes + asked.length), asked, 'the question differs')
  const record = answer.subarray(headerBytes + asked.length)
  assert.deepEqual([...record.subarray(0, 4)], [0xc0, headerBytes, 0, dnsTypes.a])
  assert.deepEqual([...record.subarray(10)], [0, 4, 198, 18, 0, 7])
}

function anyDatagram(random: () => number): Buffer {
  const below = (end: number) => Math.floor(random() * end)
  const name = names[below(names.length)] ?? ''
  const labels = name === '' ? [] : name.split('.')
  const question = [
    ...labels.flatMap((label) => [label.length, ...Buffer.from(label)]),
    ...[0, 0, below(4) === 0 ? below(256) : 1, 0, 1],
  ]
  const header = [below(256), below(256), 1, 0, 0, 1, 0, 0, 0, 0, 0, below(8) === 0 ? 1 : 0]
  const bytes = [...header, ...question]
  const changes = below(4)
  for (let change = 0; change < changes; change++) {
    // Mostly in the name, which is the hardest part to parse.
    const at =
      below(5) === 0 ? below(headerBytes) : headerBytes + below(Math.max(1, bytes.length - headerBytes))
    const byte = [below(256), 0, 0x2e, 0xc0, 0x0c, 63, 64, 255, labels[0]?.length ?? 1][below(9)] ?? 0
    const kind = below(6)
    if (kind === 0) bytes.splice(at, 1 + below(4))
    else if (kind === 1) bytes.splice(at, 0, ...Array.from({ length: 1 + below(70) }, () => byte))
    else if (kind === 2) bytes.splice(at, 0, ...bytes.slice(headerBytes, headerBytes + below(40)))
    else if (kind === 3) bytes.length = Math.min(bytes.length, at)
    else bytes[at] = byte
  }
  return Buffer.from(bytes)
}
