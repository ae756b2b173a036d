/** Argument lists as large as the kernel accepts, and larger. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { LazaretError } from '../../../src/index.ts'
import { keepHeldFlat } from '../../support/machine/held-memory.ts'
import { ampleMs } from '../../support/patient-run.ts'
import { bun, node, python, shell, useLazaret } from '../../support/use-lazaret.ts'

const guests = await useLazaret()

const fromJavaScript = `
  const { spawnSync } = await import('node:child_process')
  const ends = [1, 100].map((count) => spawnSync('/bin/true', Array(count).fill('x'.repeat(100_000))))
  console.log(ends.map(({ status, error }) => error?.code ?? status).join(' '))`

const attacks = {
  shell: {
    ...shell,
    code: `x=$(head -c 100000 /dev/zero | tr '\\0' x); /bin/true $x; a=$?; eval "/bin/true $(for i in $(seq 100); do printf '%s ' '$x'; done)" 2>/dev/null; test $? = 126 && echo "$a E2BIG"`,
  },
  python: {
    ...python,
    code: `
import errno, subprocess
def attempt(count):
    try: return subprocess.run(['/bin/true'] + ['x' * 100000] * count).returncode
    except OSError as error: return errno.errorcode[error.errno]
print(attempt(1), attempt(100))`,
  },
  bun: { ...bun, code: fromJavaScript },
  node: { ...node, code: fromJavaScript },
}

for (const [name, request] of Object.entries(attacks)) {
  test(`${name}: execve with a huge argv is E2BIG inside and nothing outside`, async () => {
    const { outcome, stdout, stderr } = await keepHeldFlat(() =>
      guests.run({ ...request, limits: { wallMs: ampleMs } }),
    )
    assert.deepEqual(outcome, { kind: 'completed', exitCode: 0 }, stderr)
    assert.equal(stdout, '0 E2BIG\n')
  })
}

test('arguments of a request that are too long for execve are refused before anything is started', async () => {
  const args = Array<string>(40).fill('x'.repeat(100_000))
  const run = guests.run({ ...shell, code: 'echo $#', args })
  await assert.rejects(run, (error) => error instanceof LazaretError && error.kind === 'refusal')
})

test('arguments and variables of a request that execve accepts arrive completely', async () => {
  const args = Array<string>(8).fill('x'.repeat(100_000))
  const { stdout } = await guests.run({
    ...shell,
    code: 'printf "%s %s %s" $# ${#1} ${#BIG}',
    args,
    env: { BIG: 'y'.repeat(100_000) },
  })
  assert.equal(stdout, '8 100000 100000')
})
