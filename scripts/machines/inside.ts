/**
 * Runs inside a machine, on the installed package alone: what `doctor` says, whether runs get that level, and whether
 * limits hold. Prints one line of JSON, and then kills itself, so that the machine shows what a killed host leaves.
 */
import type * as library from '../../src/index.ts'

export interface Findings {
  readonly level: string
  /** What doctor says of cgroups. */
  readonly cgroups: string
  /** Empty if everything was as it should be. */
  readonly faults: readonly string[]
}

const { createLazaret } = (await import(String(process.argv[2]))) as typeof library

const lazaret = createLazaret()
const { level, layers } = await lazaret.probe()
const faults: string[] = []
const hasCgroups = layers.some(({ name, state }) => name === 'cgroup' && state === 'ok')

async function expect(
  what: string,
  request: library.RunRequest,
  wanted: { readonly kind: string; readonly value?: unknown },
  host = lazaret,
): Promise<void> {
  const found = await host.run(request).then(
    ({ outcome, receipt, ...result }) => {
      const value = 'value' in result ? result.value : undefined
      const seen = { kind: outcome.kind, value, level: receipt.protection, by: receipt.limits.memoryBytes.by }
      const expected = { value, ...wanted, level, by: hasCgroups ? 'cgroup' : seen.by }
      return JSON.stringify(seen) === JSON.stringify({ ...seen, ...expected })
        ? undefined
        : JSON.stringify(seen)
    },
    (error: unknown) => String(error),
  )
  if (found !== undefined) faults.push(`${what}: ${found}`)
}

const done = { kind: 'completed' }
await expect('python', { language: 'python', code: 'sum(range(10))' }, { ...done, value: 45 })
await expect('javascript', { language: 'javascript', code: '6 * 7' }, { ...done, value: 42 })
await expect('typescript', { language: 'typescript', code: 'const a: number = 6; a' }, { ...done, value: 6 })
await expect('shell', { language: 'shell', code: 'echo hi | tr a-z A-Z' }, done)
const memory = { limits: { memoryBytes: 128 * 1024 * 1024 } }
const hoard = 'held = []\nwhile True: held.append(bytearray(1 << 20))'
await expect('memory', { language: 'python', code: hoard, ...memory }, { kind: 'out-of-memory' })
const forever = { language: 'shell', code: 'while :; do :; done', limits: { wallMs: 5000 } } as const
await expect('timeout', forever, { kind: 'timed-out' })
await expect('a second Lazaret', { language: 'shell', code: ':' }, done, createLazaret())

const cgroups = layers.find(({ name }) => name === 'cgroup')?.observed ?? ''
const findings: Findings = { level, cgroups, faults }
process.stdout.write(`${JSON.stringify(findings)}\n`, () => process.kill(process.pid, 'SIGKILL'))
