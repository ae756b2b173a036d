/**
 * The messages of a cell's resolver: one question about one name. Everything else is answered with an error.
 * Format: RFC 1035, section 4. The bytes come from a guest.
 */
import { isHostName } from './host-names.ts'

/** A question that the resolver understands. */
export interface DnsQuestion {
  /** The name in the form of host-names.ts; undefined if it is not a host name. */
  readonly name: string | undefined
  /** The name for a report, whatever it contains. */
  readonly shown: string
  readonly type: number
  readonly isInternet: boolean
  /** Where the question ends in the datagram. */
  readonly end: number
}

export const dnsTypes = { a: 1, aaaa: 28 } as const
export const dnsCodes = { ok: 0, malformed: 1, failed: 2, noName: 3, notImplemented: 4, refused: 5 } as const

const headerBytes = 12
const nameBytesMax = 255
const labelBytesMax = 63
const internet = 1
/** QR (a response) and Opcode (0 is a query). */
const responseFlag = 0x8000
const opcodeMask = 0x7800
const recursionDesired = 0x0100
const authoritative = 0x0400
const recursionAvailable = 0x0080

/** Undefined if no answer is possible, or none is expected. */
export function readQuestion(datagram: Buffer): DnsQuestion | 'malformed' | undefined {
  if (datagram.length < headerBytes) return undefined
  const flags = datagram.readUInt16BE(2)
  if ((flags & responseFlag) !== 0) return undefined
  if ((flags & opcodeMask) !== 0 || datagram.readUInt16BE(4) !== 1) return 'malformed'
  const labels = readLabels(datagram)
  if (labels === undefined || labels.end + 4 > datagram.length) return 'malformed'
  const { texts, end } = labels
  const name = texts.join('.').toLowerCase()
  // A dot or a NUL in a label would look like the end of it in the joined name.
  const isPlain = texts.every((text) => /^[A-Za-z0-9_-]+$/.test(text)) && isHostName(name)
  return {
    name: isPlain ? name : undefined,
    shown: texts.join('.'),
    type: datagram.readUInt16BE(end),
    isInternet: datagram.readUInt16BE(end + 2) === internet,
    end: end + 4,
  }
}

/** Compression pointers are malformed: there is nothing before a question to point to. */
function readLabels(datagram: Buffer): { texts: string[]; end: number } | undefined {
  const texts: string[] = []
  let at = headerBytes
  while (at < datagram.length && at - headerBytes < nameBytesMax) {
    const length = datagram.readUInt8(at)
    if (length === 0) return { texts, end: at + 1 }
    if (length > labelBytesMax || at + 1 + length > datagram.length) return undefined
    texts.push(datagram.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return undefined
}

export interface DnsAnswer {
  readonly code: number
  /** An IPv4 address. */
  readonly address?: string
  readonly lifeSeconds?: number
}

/** The answer to a datagram. It repeats the part of the question that was understood. */
export function writeAnswer(datagram: Buffer, question: DnsQuestion | undefined, answer: DnsAnswer): Buffer {
  const { code, address, lifeSeconds = 0 } = answer
  const header = Buffer.alloc(headerBytes)
  header.writeUInt16BE(datagram.readUInt16BE(0), 0)
  const asked = datagram.readUInt16BE(2) & recursionDesired
  header.writeUInt16BE(responseFlag | authoritative | recursionAvailable | asked | code, 2)
  header.writeUInt16BE(question === undefined ? 0 : 1, 4)
  header.writeUInt16BE(address === undefined ? 0 : 1, 6)
  const repeated = question === undefined ? [] : [datagram.subarray(headerBytes, question.end)]
  return Buffer.concat([
    header,
    ...repeated,
    ...(address === undefined ? [] : [writeAddress(address, lifeSeconds)]),
  ])
}

/** The name is a pointer to that of the question. */
function writeAddress(address: string, lifeSeconds: number): Buffer {
  const record = Buffer.alloc(16)
  record.writeUInt16BE(0xc000 | headerBytes, 0)
  record.writeUInt16BE(dnsTypes.a, 2)
  record.writeUInt16BE(internet, 4)
  record.writeUInt32BE(lifeSeconds, 6)
  record.writeUInt16BE(4, 10)
  record.set(address.split('.').map(Number), 12)
  return record
}
