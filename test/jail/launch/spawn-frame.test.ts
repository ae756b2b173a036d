import assert from 'node:assert/strict'
import { test } from 'node:test'

import { sizedMounts } from '../../../src/jail/plan/mounts.ts'
import { hostView, ownView } from '../../../src/jail/plan/place.ts'
import type { BeginSpec, SpawnSpec } from '../../../src/jail/cell/guest-process.ts'
import { decodeExit, encodeBegin, encodeSpawn, signalName } from '../../../src/jail/launch/spawn-frame.ts'
import { readEnums, readSource } from './c-source.ts'

const spec: SpawnSpec = {
  file: '/f',
  argv: ['a', ''],
  env: { N: 'v=w' },
  folder: '/',
  rlimits: [{ resource: 7, soft: 1, hard: 2 }],
  wallMs: 30,
  outputBytes: 10,
  watched: { memoryBytes: null, cpuMs: 20, socketBytes: 40, tasksMax: 50, filesMax: 60 },
}
const {
  SPAWN_HAS_STDIN,
  SPAWN_HAS_CHANNEL,
  SPAWN_ENDS_ON_OUTPUT,
  SPAWN_COLLECTS,
  SPAWN_FORKS,
  SPAWN_HAS_OWN_CHANNEL,
} = readEnums(readSource('serve/guest.h'))

test('a spawn frame has its fields in the launcher’s order', () => {
  const expected = [
    '04000000 0a00000000000000 0000000000000000 1400000000000000', // flags, output, memory, cpu
    '1e00000000000000 2800000000000000 3200000000000000 3c00000000000000', // wall, sockets, tasks, files
    '02000000 2f00 03000000 2f6600', // folder, file
    '01000000 07000000 0100000000000000 0200000000000000', // rlimits
    '02000000 02000000 6100 01000000 00', // argv
    '01000000 06000000 4e3d763d7700', // environment
  ]
  assert.equal(encodeSpawn(spec).toString('hex'), expected.join('').replaceAll(' ', ''))
})

const begin: BeginSpec = {
  outputBytes: 10,
  wallMs: 30,
  watched: { memoryBytes: 5, cpuMs: null, socketBytes: null, tasksMax: null, filesMax: null },
  rlimits: [{ resource: 7, soft: 1, hard: 2 }],
  stdin: Buffer.from('not in this frame'),
  work: { bytesMax: 6, entriesMax: 7 },
  resized: [{ path: '/tmp', flags: 6, options: 'size=8' }],
}

test('a begin frame has its fields in the launcher’s order', () => {
  const expected = [
    '0a00000000000000 0500000000000000 0000000000000000', // output, memory, cpu
    '1e00000000000000 0000000000000000 0000000000000000 0000000000000000', // wall, sockets, tasks, files
    '01000000 07000000 0100000000000000 0200000000000000', // rlimits
    '0600000000000000 0700000000000000', // the folder on the host: bytes, entries
    '01000000 05000000 2f746d7000 0600000000000000 07000000 73697a653d3800', // mounts: path, flags, options
  ]
  assert.equal(encodeBegin(begin).toString('hex'), expected.join('').replaceAll(' ', ''))
})

test('a begin frame that changes nothing has counts of zero', () => {
  const bytes = encodeBegin({ ...begin, rlimits: [], work: null, resized: [] })
  assert.equal(bytes.subarray(7 * 8).toString('hex'), '00'.repeat(4 + 8 + 8 + 4))
})

test('no more mounts are resized than the launcher takes', () => {
  const [, most] = /MOUNTS_MAX = (\d+)/.exec(readSource('serve/begin.c')) ?? []
  for (const place of [ownView, hostView('/tmp/work')])
    assert.ok(sizedMounts(place, 1 << 20).length <= Number(most))
})

test('a limit that is added to the usage of others has the launcher’s flag', () => {
  const [, shift = ''] = /BESIDE_OTHERS = 1 << (\d+)/.exec(readSource('serve/limits.c')) ?? []
  const one = { resource: 6, soft: 1, hard: 2 }
  const marked = encodeBegin({ ...begin, rlimits: [{ ...one, isBesideOthers: true }] })
  const plain = encodeBegin({ ...begin, rlimits: [one] })
  const at = 7 * 8 + 4
  assert.equal(marked.readUInt32LE(at), plain.readUInt32LE(at) + 2 ** Number(shift))
  assert.equal(plain.readUInt32LE(at), 6)
})

test('flags have the launcher’s bits', () => {
  const flagsOf = (more: Partial<SpawnSpec>) => encodeSpawn({ ...spec, ...more }).readUInt32LE(0)
  assert.equal(flagsOf({}), SPAWN_ENDS_ON_OUTPUT)
  for (const stdin of [Buffer.alloc(0), 'later'] as const)
    assert.equal(flagsOf({ stdin }), Number(SPAWN_ENDS_ON_OUTPUT) + Number(SPAWN_HAS_STDIN))
  assert.equal(flagsOf({ isCollector: true }), SPAWN_COLLECTS)
  assert.equal(flagsOf({ isFork: true }), Number(SPAWN_ENDS_ON_OUTPUT) + Number(SPAWN_FORKS))
  assert.equal(flagsOf({ channel: 'cell' }), Number(SPAWN_ENDS_ON_OUTPUT) + Number(SPAWN_HAS_CHANNEL))
  assert.equal(flagsOf({ channel: 'own' }), Number(SPAWN_ENDS_ON_OUTPUT) + Number(SPAWN_HAS_OWN_CHANNEL))
})

test('an exit is read at the launcher’s offsets', () => {
  const payload = Buffer.alloc(66)
  payload.writeUInt8(1, 0)
  payload.writeUInt32LE(11, 1)
  for (const [at, value] of [
    [5, 2000n],
    [13, 500n],
    [21, 3n],
    [29, 4n],
    [37, 5n],
    [46, 6000n],
    [58, 8n],
  ] as const)
    payload.writeBigUInt64LE(value, at)
  payload.writeUInt8(1, 45)
  payload.writeUInt32LE(7, 54)
  assert.deepEqual(decodeExit(payload), {
    end: { by: 'signal', signal: 'SIGSEGV' },
    cpuMs: 2.5,
    residentPeakBytes: 3072,
    droppedBytes: { stdout: 4, stderr: 8 },
    watchdogPeakBytes: 5,
    diskFull: true,
    elapsedMs: 6,
    forksRefusedToPid1: 7,
  })
  const writes = [...readSource('serve/ends.c').matchAll(/put_u(?:32|64)\(payload \+ (\d+)/g)].map(([, at]) =>
    Number(at),
  )
  for (const at of [1, 5, 13, 21, 29, 37, 46, 54, 58]) assert.ok(writes.includes(at), `offset ${at}`)
})

test('signals have their usual names, and real-time signals have names, too', () => {
  assert.deepEqual([9, 15, 31].map(signalName), ['SIGKILL', 'SIGTERM', 'SIGSYS'])
  assert.match(signalName(6), /^SIGABRT$/)
  assert.match(signalName(64), /^SIG/)
})
