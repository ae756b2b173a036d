import assert from 'node:assert/strict'
import { test } from 'node:test'

import fc from '../support/fast-check.ts'

import { defaultLimits } from '../../src/core/limits.ts'
import type { Outcome } from '../../src/core/outcome.ts'
import type { Exit, GuestClaims } from '../../src/result/exit.ts'
import { settle } from '../../src/result/settle.ts'
import { goodExit } from './example-exit.ts'

const limits = {
  ...defaultLimits,
  wallMs: 1000,
  cpuMs: 500,
  memoryBytes: 1_000_000,
  outputBytes: 70,
  processesMax: 9,
  diskBytes: 800,
}

const exit = (exitCode: number): Exit['end'] => ({ by: 'exit', exitCode })
const signal = (name: string): Exit['end'] => ({ by: 'signal', signal: name })
const error = { name: 'ValueError', message: 'no good', line: 2 }
const claim = (phase: 'run' | 'syntax', name = error.name): GuestClaims => ({
  error: { phase, error: { ...error, name } },
  logs: [],
  displays: [],
})

const completed = (exitCode: number): Outcome => ({ kind: 'completed', exitCode })
const killed = (name: string): Outcome => ({ kind: 'killed', signal: name })
const outOfMemory: Outcome = { kind: 'out-of-memory', limitBytes: 1_000_000 }
const tooManyProcesses: Outcome = { kind: 'limit-exceeded', limit: 'processes', allowed: 9 }
const diskFull: Outcome = { kind: 'limit-exceeded', limit: 'disk', allowed: 800 }
const cpuOver: Outcome = { kind: 'timed-out', limit: 'cpu', limitMs: 500 }

const table: readonly (readonly [title: string, evidence: Partial<Exit>, outcome: Outcome])[] = [
  ['exit code 0 completes', {}, completed(0)],
  ['exit code 3 completes', { end: exit(3) }, completed(3)],
  [
    'an error that nobody caught fails with its exit code',
    { end: exit(1), claims: claim('run') },
    { kind: 'failed', error, exitCode: 1 },
  ],
  [
    'code that does not compile is a syntax error',
    { end: exit(1), claims: claim('syntax') },
    { kind: 'syntax-error', error },
  ],
  ['an error that the program claims and survives is not believed', { claims: claim('run') }, completed(0)],
  [
    'a syntax error that the program claims and survives is not believed',
    { claims: claim('syntax') },
    completed(0),
  ],
  ['a signal of its own kills', { end: signal('SIGTERM') }, killed('SIGTERM')],
  [
    'a signal kills, whatever error is claimed',
    { end: signal('SIGKILL'), claims: claim('run') },
    killed('SIGKILL'),
  ],
  ['a cell that ended before its program was reaped was killed', { end: null }, killed('SIGKILL')],

  [
    'our wall timer',
    { killReason: 'wall', end: signal('SIGKILL') },
    { kind: 'timed-out', limit: 'wall', limitMs: 1000 },
  ],
  [
    'our wall timer, and nobody saw the end',
    { killReason: 'wall', end: null },
    { kind: 'timed-out', limit: 'wall', limitMs: 1000 },
  ],
  ['our watch on processor time', { killReason: 'cpu', end: signal('SIGKILL') }, cpuOver],
  ['our watch on memory', { killReason: 'memory', end: signal('SIGKILL') }, outOfMemory],
  [
    'our budget of output',
    { killReason: 'output', end: signal('SIGKILL') },
    { kind: 'limit-exceeded', limit: 'output', allowed: 70 },
  ],
  ['the caller', { killReason: 'cancelled', end: signal('SIGKILL') }, { kind: 'cancelled' }],
  [
    'a kill by the host takes precedence over the kernel’s counters',
    { killReason: 'wall', oomKills: 1, end: signal('SIGKILL') },
    { kind: 'timed-out', limit: 'wall', limitMs: 1000 },
  ],
  [
    'a program that ended well just as its time was up',
    { killReason: 'wall', end: exit(0) },
    { kind: 'timed-out', limit: 'wall', limitMs: 1000 },
  ],

  ['the kernel’s kill for memory', { oomKills: 1, end: signal('SIGKILL') }, outOfMemory],
  ['a child’s death for memory that the program died of', { oomKills: 1, end: exit(1) }, outOfMemory],
  ['a child’s death for memory that the program survived', { oomKills: 1 }, completed(0)],
  ['memory deaths that nobody was left to report', { oomKills: 1, end: null }, outOfMemory],
  [
    'an engine that aborts at the limit, where no cgroup counts',
    { dataLimited: true, memoryPeakBytes: 950_000, end: signal('SIGABRT') },
    outOfMemory,
  ],
  [
    'an engine that aborts at the limit, and no kill was counted',
    { memoryPeakBytes: 950_000, end: signal('SIGABRT') },
    killed('SIGABRT'),
  ],
  [
    'an engine that aborts far below the limit',
    { memoryPeakBytes: 500_000, end: signal('SIGABRT') },
    killed('SIGABRT'),
  ],
  [
    'a signal that no allocation causes, at the limit',
    { memoryPeakBytes: 950_000, end: signal('SIGTERM') },
    killed('SIGTERM'),
  ],
  [
    'an allocation refused at the data limit',
    { dataLimited: true, memoryPeakBytes: 950_000, end: exit(1), claims: claim('run', 'MemoryError') },
    outOfMemory,
  ],
  [
    'an allocation that could never have fitted',
    { dataLimited: true, end: exit(1), claims: claim('run', 'MemoryError') },
    { kind: 'failed', error: { ...error, name: 'MemoryError' }, exitCode: 1 },
  ],
  [
    'a MemoryError where a cgroup would have killed',
    { end: exit(1), claims: claim('run', 'MemoryError') },
    { kind: 'failed', error: { ...error, name: 'MemoryError' }, exitCode: 1 },
  ],
  [
    'a RangeError at the data limit',
    { dataLimited: true, memoryPeakBytes: 950_000, end: exit(1), claims: claim('run', 'RangeError') },
    outOfMemory,
  ],
  [
    'a RangeError far below the data limit',
    { dataLimited: true, end: exit(1), claims: claim('run', 'RangeError') },
    { kind: 'failed', error: { ...error, name: 'RangeError' }, exitCode: 1 },
  ],

  ['the kernel’s own end for processor time', { cpuMs: 600, end: signal('SIGXCPU') }, cpuOver],
  [
    'more processor time than allowed, which nobody saw before the program ended well',
    { cpuMs: 501 },
    cpuOver,
  ],
  [
    'more processor time than allowed, and the program failed',
    { cpuMs: 501, end: exit(1), claims: claim('run') },
    cpuOver,
  ],
  ['all processor time that is allowed, and no more', { cpuMs: 500 }, completed(0)],
  [
    'a kill for memory comes before the processor time that led to it',
    { oomKills: 1, cpuMs: 501, end: signal('SIGKILL') },
    outOfMemory,
  ],
  [
    'a kill by the host takes precedence over the final count of processor time',
    { killReason: 'cancelled', cpuMs: 501, end: null },
    { kind: 'cancelled' },
  ],
  ['SIGXCPU that the program sent to itself', { cpuMs: 5, end: signal('SIGXCPU') }, killed('SIGXCPU')],
  ['a file above its size, with the disk full', { end: signal('SIGXFSZ'), diskFull: true }, diskFull],
  ['a signal of the guest’s own that means the same', { end: signal('SIGXFSZ') }, killed('SIGXFSZ')],
  [
    'SIGSYS, which the filter or the program itself can have caused',
    { end: signal('SIGSYS') },
    killed('SIGSYS'),
  ],
  [
    'forks refused, and the program failed',
    { forksRefused: 2, end: exit(1), claims: claim('run') },
    tooManyProcesses,
  ],
  ['forks refused, and the program went on', { forksRefused: 2 }, completed(0)],
  ['forks refused, and the program chose its exit code', { forksRefused: 2, end: exit(3) }, completed(3)],
  ['a full disk, and the program failed', { diskFull: true, end: exit(1), claims: claim('run') }, diskFull],
  ['a full disk, and the program ended well', { diskFull: true }, completed(0)],
]

for (const [title, evidence, outcome] of table) {
  test(`${title}: ${'limit' in outcome ? `${outcome.kind}, ${outcome.limit}` : outcome.kind}`, () => {
    assert.deepEqual(settle(limits, { ...goodExit, ...evidence }), outcome)
  })
}

test('without a limit on processor time SIGXCPU is a signal like any other', () => {
  assert.deepEqual(
    settle({ ...limits, cpuMs: null }, { ...goodExit, end: signal('SIGXCPU') }),
    killed('SIGXCPU'),
  )
})

test('no claim of a guest can cause a timeout, a cancellation, a limit or an out-of-memory outcome', () => {
  const words = fc.constantFrom(
    'MemoryError',
    'RangeError',
    'TimeoutError',
    'AbortError',
    'out-of-memory',
    'timed-out',
    'SIGXCPU',
  )
  const said: fc.Arbitrary<GuestClaims> = fc.record(
    {
      error: fc.record({
        phase: fc.constantFrom('run', 'syntax'),
        error: fc.record({ name: words, message: words }),
      }),
      value: fc.record({ tagged: fc.jsonValue(), live: fc.jsonValue(), text: words }),
      logs: fc.constant([]),
      displays: fc.constant([]),
    },
    { requiredKeys: ['logs', 'displays'] },
  )
  const ends = fc.oneof(
    fc.integer({ min: 0, max: 255 }).map(exit),
    fc.constantFrom('SIGTERM', 'SIGKILL', 'SIGABRT', 'SIGXCPU', 'SIGSEGV').map(signal),
  )
  fc.assert(
    fc.property(said, ends, fc.string(), (claims, end, stderr) => {
      const { kind } = settle(limits, { ...goodExit, claims, end, stderr })
      assert.ok(['completed', 'failed', 'syntax-error', 'killed'].includes(kind), kind)
    }),
  )
})
