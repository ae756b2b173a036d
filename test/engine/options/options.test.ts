import assert from 'node:assert/strict'
import { test } from 'node:test'

import { parseOptions } from '../../../src/engine/options/parse-options.ts'
import type { LazaretOptions } from '../../../src/engine/options/options.ts'
import { defaultUidRange } from '../../../src/jail/machine/uid-range.ts'

test('every missing option gets its default', () => {
  assert.deepEqual(parseOptions({}), {
    minimumProtection: 'standard',
    defaults: {},
    ceilings: {},
    toolchains: {},
    readable: [],
    packages: {},
    environments: {},
    pools: {},
    preload: [],
    access: {},
    queue: {},
    rate: false,
    breaker: false,
    uidRange: defaultUidRange,
    allowUnenforced: [],
    audit: false,
    receipts: false,
  })
})

test('valid options are not changed', () => {
  const options = {
    minimumProtection: 'strong',
    defaults: { wallMs: 5, cpuMs: null },
    ceilings: { memoryBytes: 64 * 1024 * 1024 },
    toolchains: { node: '/usr/bin/node' },
    readable: [{ host: '/usr/share', guest: '/data' }],
    packages: { python: ['/usr/lib'] },
    environments: { folder: '/srv/environments' },
    pools: { python: { min: 1, max: 4 }, shell: { max: 0 } },
    preload: ['numpy', 'os.path'],
    access: { networks: ['none'] },
    queue: { runningMax: 2 },
    rate: { perMinute: 1 },
    breaker: { coolDownMs: 1 },
    uidRange: { first: 100_000, count: 512 },
    allowUnenforced: ['cpuMs'],
    audit: { file: '/srv/audit.jsonl', onFailure: 'refuse' },
    receipts: { privateKeyFile: '/srv/key.pem' },
    onEvent: () => undefined,
  } as const satisfies LazaretOptions
  assert.deepEqual(parseOptions(options), options)
})

const readable = (guest: string, host = '/usr') => ({ readable: [{ host, guest }] })
const wrong: readonly (readonly [what: string, options: unknown, named: RegExp])[] = [
  ['no object', 'strong', /Options: /],
  ['an unknown key', { timeout: 5 }, /unknown key "timeout"; known keys: minimumProtection, /],
  ['a rate that is a number', { rate: 30 }, /rate: must be false or an object\./],
  ['a rate that is text', { rate: { perMinute: '30' } }, /rate\.perMinute: must be a finite number\./],
  ['a pool of nothing', { pools: { perl: {} } }, /pools/],
  ['a pool whose min is above its max', { pools: { bun: { min: 9 } } }, /pools\.bun.*min/],
  ['a module that is no name', { preload: ['os; import sys'] }, /preload/],
  ['an unknown level', { minimumProtection: 'best' }, /minimumProtection/],
  ['an unknown limit', { defaults: { seconds: 1 } }, /defaults.*seconds/],
  ['a limit that is no whole number', { defaults: { wallMs: 1.5 } }, /defaults\.wallMs/],
  ['a limit of zero', { ceilings: { wallMs: 0 } }, /ceilings\.wallMs/],
  ['a limit without end', { ceilings: { memoryBytes: Number.POSITIVE_INFINITY } }, /ceilings\.memoryBytes/],
  ['a time that a timer cannot hold', { ceilings: { wallMs: 2 ** 31 } }, /ceilings\.wallMs/],
  ['no limit where only processor time may have none', { defaults: { wallMs: null } }, /defaults\.wallMs/],
  ['a relative toolchain', { toolchains: { node: 'bin/node' } }, /toolchains\.node/],
  [
    'a toolchain for a language that is not ours',
    { toolchains: { perl: '/usr/bin/perl' } },
    /toolchains.*perl/,
  ],
  ['a relative readable folder', readable('/data', 'usr'), /readable\[0\]\.host/],
  ['a readable folder that is not there', readable('/data', '/no/such/folder'), /readable\[0\]\.host/],
  ['a readable path with ..', readable('/data/../usr'), /readable\[0\]\.guest/],
  ['a readable path with NUL', readable('/da\0ta'), /readable\[0\]\.guest/],
  ['a readable path with a slash at its end', readable('/data/'), /readable\[0\]\.guest/],
  ['the root as a readable path', readable('/'), /readable\[0\]\.guest/],
  ...[
    '/workspace',
    '/workspace/x',
    '/tmp/x',
    '/usr/lib',
    '/proc',
    '/dev/shm',
    '/etc',
    '/run',
    '/sys',
    '/opt/lazaret/dist',
  ].map((path) => [`a readable path at ${path}`, readable(path), /readable\[0\]\.guest/] as const),
  [
    'too many readable folders',
    { readable: Array.from({ length: 33 }, (_, index) => ({ host: '/usr', guest: `/data/${index}` })) },
    /readable/,
  ],
  ['ids of the system', { uidRange: { first: 0, count: 65_536 } }, /uidRange\.first/],
  ['too few ids', { uidRange: { first: 100_000, count: 10 } }, /uidRange\.count/],
  ['ids beyond 32 bits', { uidRange: { first: 4_294_960_000, count: 65_536 } }, /uidRange/],
  ['an unknown limit to leave unenforced', { allowUnenforced: ['sleep'] }, /allowUnenforced/],
  ['an audit log without a file', { audit: {} }, /audit/],
  ['an audit log at a relative path', { audit: { file: 'log' } }, /audit/],
  ['a key that is no path', { receipts: { privateKeyFile: 1 } }, /receipts/],
  ['an event listener that is no function', { onEvent: 'log' }, /onEvent/],
]

for (const [what, options, named] of wrong) {
  test(`${what}: refused, and named`, () => {
    assert.throws(() => parseOptions(options as LazaretOptions), { code: 'INVALID_REQUEST', message: named })
  })
}

test('a path that only begins like a taken one is free', () => {
  assert.doesNotThrow(() => parseOptions(readable('/usrdata')))
})
