/** Structures of the kernel's interface that calls point to, by name. An address inside one is the name of another. */
export interface Data {
  readonly bytes: Buffer
  /** Offset → the data whose address goes there. */
  readonly addresses?: Readonly<Record<number, string>>
}

const int = (...numbers: number[]) => Buffer.from(Int32Array.from(numbers).buffer)
const long = (...numbers: number[]) => Buffer.from(BigInt64Array.from(numbers, BigInt).buffer)
const hex = (digits: string) => Buffer.from(digits, 'hex')

/** The shortest classic BPF filter, which accepts everything; and a longer one, which takes a page when compiled. */
const acceptAll = hex('06000000ffffffff')
const longFilter = Buffer.concat([...Array<Buffer>(60).fill(hex('0400000001000000')), acceptAll])
/** Family, port 9001, 127.0.0.1. */
const loopback = Buffer.concat([hex('020023297f000001'), Buffer.alloc(8)])
const loopback6 = Buffer.concat([hex('0a00232900000000'), Buffer.alloc(15), hex('01'), Buffer.alloc(4)])
/** struct tcp_md5sig: an address of 128 bytes, flags, the length of the key, the interface, the key. */
const keyOfTcp = Buffer.concat([loopback, Buffer.alloc(112), hex('00001000'), int(0), Buffer.alloc(80, 7)])

const library: Readonly<Record<string, Data>> = {
  zero: { bytes: Buffer.alloc(256) },
  ones: { bytes: Buffer.alloc(256, 0xff) },
  mixed: { bytes: Buffer.from(Array.from({ length: 1024 }, (_, at) => (at * 167 + 13) & 0xff)) },
  one: { bytes: int(1, 0, 0, 0) },
  two: { bytes: int(2, 0, 0, 0) },
  million: { bytes: int(1 << 20, 0, 0, 0) },
  largest: { bytes: int(0x7fffffff, 0x7fffffff, 0, 0) },
  minus: { bytes: int(-1, -1, -1, -1) },
  loopback: { bytes: loopback },
  loopback6: { bytes: loopback6 },
  unix: { bytes: Buffer.concat([hex('0100'), Buffer.from('/tmp/socket\0')]) },
  abstract: { bytes: Buffer.concat([hex('0100'), Buffer.from('\0a name')]) },
  netlink: { bytes: int(16, 0, 0) },
  length: { bytes: int(16) },
  vector: { bytes: long(0, 256), addresses: { 0: '@mixed' } },
  message: { bytes: long(0, 0, 0, 1, 0, 0, 0), addresses: { 16: '@vector' } },
  filter: { bytes: long(1, 0), addresses: { 8: '@filter-code' } },
  'filter-code': { bytes: acceptAll },
  'long-filter': { bytes: long(61, 0), addresses: { 8: '@long-filter-code' } },
  'long-filter-code': { bytes: longFilter },
  'tcp-key': { bytes: keyOfTcp },
  pair: { bytes: Buffer.alloc(8) },
  'pair-2': { bytes: Buffer.alloc(8) },
  second: { bytes: long(1, 0, 1, 0) },
  instant: { bytes: long(0, 1000, 0, 1000) },
  'read-lock': { bytes: int(0, 0, 0, 0, 1, 0, 0, 0) },
  'write-lock': { bytes: int(1, 0, 0, 0, 1, 0, 0, 0) },
  'epoll-event': { bytes: int(1, 7, 7) },
  signals: { bytes: long(0x100) },
  'node-0': { bytes: long(1) },
  group: { bytes: Buffer.concat([hex('7f00000100000000'), int(0)]) },
  linger: { bytes: int(1, 0) },
  'interface-request': { bytes: Buffer.concat([Buffer.from('lo\0'), Buffer.alloc(37)]) },
  owner: { bytes: int(1, 0) },
  // Any IPv4 loopback source to any, with the key manager's defaults: struct xfrm_userpolicy_info has 168 bytes.
  policy: { bytes: Buffer.alloc(168) },
  place: { bytes: long(0) },
  rules: { bytes: long(0, 3) },
}

export const dataNames: readonly string[] = Object.keys(library)

export function findData(name: string): Data {
  const found = library[name]
  if (found === undefined) throw new Error(`There is no data named ${name}.`)
  return found
}
