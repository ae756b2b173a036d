/** Output floods: as much, as fast and in as small pieces as possible. The host keeps a prefix, and its memory stays small. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { outputFloods } from '../../support/hostile/endless-programs.ts'
import { keepHeldFlat } from '../../support/machine/held-memory.ts'
import { ampleMs, runPatiently } from '../../support/patient-run.ts'
import type { PatientRun } from '../../support/patient-run.ts'
import { bun, node, python, shell, useLazaret } from '../../support/use-lazaret.ts'

const guests = await useLazaret()

const MiB = 1024 * 1024
const limits = { outputBytes: 1 * MiB, wallMs: ampleMs, hostMs: ampleMs }
const outputExceeded = { kind: 'limit-exceeded', limit: 'output', allowed: limits.outputBytes }

for (const [name, { prefix, ...request }] of Object.entries(outputFloods)) {
  test(`${name} is limit-exceeded, keeps exactly the first outputBytes and leaves the host small`, async () => {
    const { outcome, stdout, stderr, truncated, usage } = await keepHeldFlat(() =>
      guests.run({ ...request, limits }),
    )
    assert.deepEqual(outcome, outputExceeded)
    assert.equal(stdout.length + stderr.length, limits.outputBytes)
    assert.equal(usage.outputBytes, limits.outputBytes)
    assert.ok(stdout.startsWith(prefix))
    assert.ok(truncated.includes('stdout'))
  })
}

for (const runtime of [bun, node]) {
  test(`${runtime.runtime}: console.log without end is limit-exceeded and leaves the host small`, async () => {
    const code = `for (let i = 0; ; i++) console.log('line', i)`
    const { outcome, stdout, logs } = await keepHeldFlat(() => guests.run({ ...runtime, code, limits }))
    assert.deepEqual(outcome, outputExceeded)
    assert.ok(stdout.startsWith('line 0\nline 1\n'))
    assert.equal(logs[0]?.text, 'line 0')
  })
}

test('invalid UTF-8 without end is limit-exceeded and arrives replaced', async () => {
  const { outcome, stdout, usage } = await keepHeldFlat(() =>
    guests.run({
      ...shell,
      code: `while :; do printf '\\377\\300\\200\\355\\240\\200ok'; done`,
      limits: { ...limits, outputBytes: 64 * 1024 },
    }),
  )
  assert.deepEqual(outcome, { ...outputExceeded, allowed: 64 * 1024 })
  assert.equal(usage.outputBytes, 64 * 1024)
  assert.ok(stdout.includes('\ufffdok') && stdout.isWellFormed())
})

test('stdout and stderr share one budget, and the first output of both is kept', async () => {
  const { outcome, stdout, stderr } = await keepHeldFlat(() =>
    guests.run({ ...shell, code: 'echo out; echo err >&2; yes out & yes err >&2', limits }),
  )
  assert.deepEqual(outcome, outputExceeded)
  assert.equal(stdout.length + stderr.length, limits.outputBytes)
  assert.ok(stdout.startsWith('out\n') && stderr.startsWith('err\n'))
})

test('a slow onOutput slows the guest down, not the host, and still sees every kept byte in order', async () => {
  const seen: Uint8Array[] = []
  const asleep = new Int32Array(new SharedArrayBuffer(4))
  const onOutput = ({ bytes }: { bytes: Uint8Array }) => {
    seen.push(bytes)
    Atomics.wait(asleep, 0, 0, 5)
  }
  const { outcome, stdout } = await keepHeldFlat(() =>
    guests.run({ ...shell, code: 'seq 1 100000000', limits, onOutput }),
  )
  assert.deepEqual(outcome, outputExceeded)
  assert.equal(Buffer.concat(seen).toString(), stdout)
  assert.ok(stdout.startsWith('1\n2\n3\n'))
})

test('output of one byte at a time costs the host no more than the same bytes at once', async () => {
  const code = 'import os\nwhile True: os.write(1, b"x")'
  const request = { ...python, code, limits: { outputBytes: 8 * MiB, hostMs: ampleMs } }
  const isMuch = ({ result }: PatientRun) => result.usage.outputBytes > 200_000
  const { result } = await keepHeldFlat(() => runPatiently(guests.run, request, isMuch))
  const { outcome, usage } = result
  assert.ok(usage.outputBytes > 200_000, `only ${usage.outputBytes} bytes arrived`)
  assert.ok(outcome.kind === 'timed-out' || outcome.kind === 'limit-exceeded')
})

test('control sequences and NULs arrive as they were written', async () => {
  const { stdout } = await guests.run({ ...shell, code: `printf 'a\\0b\\033]0;title\\007\\033[2Jc'` })
  assert.equal(stdout, 'a\0b\x1b]0;title\x07\x1b[2Jc')
})
