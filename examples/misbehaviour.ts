/** Programs that nobody should have to trust, each with its expected end. */
import type { Bait, Example } from './example.ts'

const MiB = 1024 * 1024

export function createMisbehaviour(bait: Bait): Example[] {
  return [
    {
      path: 'misbehaviour/endless-loop.js',
      request: { language: 'javascript', limits: { wallMs: 500 } },
      expected: 'ended after half a second, what it printed is kept',
      isExpected: ({ outcome, stdout }) => outcome.kind === 'timed-out' && stdout === 'looping\n',
    },
    {
      path: 'misbehaviour/memory-bomb.py',
      request: { language: 'python', limits: { memoryBytes: 64 * MiB, diskBytes: 16 * MiB } },
      expected: 'ended at 64 MiB',
      isExpected: ({ outcome }) => outcome.kind === 'out-of-memory',
    },
    {
      path: 'misbehaviour/fork-bomb.sh',
      request: { language: 'shell', limits: { processesMax: 32, wallMs: 1_500 } },
      expected: 'held at 32 processes and ended after 1.5 seconds',
      isExpected: ({ outcome }) => outcome.kind === 'timed-out',
      needsProcessLimit: true,
    },
    {
      path: 'misbehaviour/read-shadow.sh',
      request: { language: 'shell', args: [bait.secretFile], env: { SECRET_NAME: bait.secretName } },
      expected: 'finds nothing',
      isExpected: ({ outcome, stdout }) =>
        outcome.kind === 'completed' && outcome.exitCode === 0 && !stdout.includes('READ'),
    },
    {
      path: 'misbehaviour/network.py',
      request: { language: 'python', input: { port: bait.port } },
      expected: 'reaches nothing',
      isExpected: ({ outcome, value }) =>
        outcome.kind === 'completed' &&
        typeof value === 'object' &&
        value !== null &&
        !JSON.stringify(value).includes('REACHED') &&
        bait.connections() === 0,
    },
  ]
}
