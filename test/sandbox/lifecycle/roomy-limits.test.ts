/** The limits of a sandbox are those of a small machine, are consistent, and are named when a command reaches them. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'

import { LazaretError } from '../../../src/index.ts'
import type { ExecResult } from '../../../src/index.ts'
import { createLazaret } from '../../support/create-lazaret.ts'
import { LeakCheck } from '../../support/machine/leaks.ts'

const MiB = 1024 * 1024
const GiB = 1024 * MiB

const leaks = new LeakCheck()
await leaks.takeBaseline()
const lazaret = createLazaret({ onEvent: () => undefined, queue: { memoryTotalBytes: 64 * GiB } })
const sandbox = await lazaret.sandbox({
  limits: { memoryBytes: 256 * MiB, diskBytes: 4 * MiB, processesMax: 40 },
})
const { isolation } = await sandbox.exec(':')
const hasCgroup = isolation.level === 'strong'
after(async () => {
  await lazaret[Symbol.asyncDispose]()
  await leaks.checkDisposed()
})

const touchedOf = ({ touched }: ExecResult) => touched.map(({ limit, by }) => `${limit} ${by}`)

test('children that could not be started are reported, even if the command continued and succeeded', async () => {
  const command =
    '(for i in $(seq 60); do sleep 5 & done; wait) 2>/dev/null & sleep 0.5; echo went on; kill $!'
  const result = await sandbox.exec(`bash -c '${command}; pkill sleep; exit 0'`)
  if (hasCgroup) {
    assert.deepEqual([result.success, result.stdout], [true, 'went on\n'])
    assert.deepEqual(result.touched, [{ limit: 'processesMax', allowed: 40, by: 'kernel' }])
  }
  const printed = await sandbox.exec('echo "bash: fork: retry: Resource temporarily unavailable" >&2')
  assert.deepEqual(touchedOf(printed), ['processesMax output'])
})

test('a disk that was full is reported, even if it was emptied again', async () => {
  const full = await sandbox.exec('head -c 5M /dev/zero > big; echo went on')
  assert.equal(full.stdout, 'went on\n')
  assert.deepEqual(touchedOf(full), ['diskBytes kernel'])
  const emptied = await sandbox.exec('head -c 5M /dev/zero > big; rm big; echo went on')
  assert.deepEqual(emptied.touched, [{ limit: 'diskBytes', allowed: 4 * MiB, by: 'output' }])
  assert.deepEqual((await sandbox.exec('true')).touched, [])
})

test('writing a file from outside to a full disk is an error that names the limit', async () => {
  const error = await sandbox.writeFile('big', Buffer.alloc(5 * MiB)).catch((reason: unknown) => reason)
  assert.ok(error instanceof LazaretError && error.code === 'DISK_FULL')
  assert.match(`${error.message} ${error.hint}`, /diskBytes/)
  await sandbox.deleteFile('big')
})

test('a child that was killed for lack of memory is reported, even if the command continued', async (context) => {
  if (!hasCgroup) return context.skip('without a cgroup everything in the space ends')
  const result = await sandbox.exec(`bash -c 'x=a; while :; do x=$x$x; done' 2>/dev/null; echo went on`)
  assert.deepEqual([result.success, result.stdout], [true, 'went on\n'])
  assert.deepEqual(result.touched, [{ limit: 'memoryBytes', allowed: 256 * MiB, by: 'kernel' }])
})

test('too many open files are reported', async () => {
  const result = await sandbox.exec(`python3 -c "files = [open('/dev/null') for _ in range(2000)]"; true`)
  assert.deepEqual(touchedOf(result), ['openFilesMax output'])
})

test('the default limits suffice for a build: 1024 processes, 2 GiB of files and memory for both', async () => {
  await using roomy = await lazaret.sandbox()
  const { processesMax, diskBytes, memoryBytes } = roomy.limits
  assert.deepEqual([processesMax, diskBytes, memoryBytes], [1024, 2 * GiB, 3 * GiB])
  assert.deepEqual(roomy.clamped, [])
  const { stdout } = await roomy.exec(
    'for i in $(seq 300); do sleep 30 & done; jobs -p | wc -l; df -B1 --output=size . | tail -1',
  )
  assert.equal(stdout.split('\n')[0], '300')
  assert.equal(Number(stdout.split('\n')[1]), 2 * GiB)
})

test('a process begins with 1024 open files and may raise that', async () => {
  await using roomy = await lazaret.sandbox()
  const { stdout } = await roomy.exec('ulimit -Sn; ulimit -Hn; ulimit -n hard && ulimit -Sn')
  const hard = String(roomy.limits.openFilesMax)
  assert.equal(stdout, `1024\n${hard}\n${hard}\n`)
  assert.ok(roomy.limits.openFilesMax <= 65_536)
})

test('a higher limit on files raises the memory limit as needed', async () => {
  await using large = await lazaret.sandbox({ limits: { diskBytes: 4 * GiB } })
  assert.deepEqual([large.limits.diskBytes, large.limits.memoryBytes], [4 * GiB, 5 * GiB])
  assert.deepEqual(large.clamped, [])
})

test('more files than fit into the given memory are refused, and the error says what to raise', async () => {
  const limits = { diskBytes: 2 * GiB, memoryBytes: GiB }
  const error = await lazaret.sandbox({ limits }).catch((reason: unknown) => reason)
  assert.ok(error instanceof LazaretError && error.code === 'INVALID_REQUEST')
  assert.match(`${error.message} ${error.hint}`, /Raise memoryBytes to 3221225472/)
})

test('a limit on open files above the host’s is lowered, and reported', async () => {
  await using asked = await lazaret.sandbox({ limits: { openFilesMax: 1_000_000 } })
  const { stdout } = await asked.exec('ulimit -Hn')
  const held = asked.limits.openFilesMax
  assert.equal(stdout, `${held}\n`)
  const clamp = { limit: 'openFilesMax', wanted: 1_000_000, held, of: 'request', by: 'machine' } as const
  assert.deepEqual(asked.clamped, held === 1_000_000 ? [] : [clamp])
})
