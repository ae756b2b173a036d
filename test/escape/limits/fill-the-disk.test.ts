/** Disk bombs: bytes, sparse bytes, empty files, and trees that are hard to delete. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { test } from 'node:test'

import { keepMemoryFlat } from '../../support/machine/resident-memory.ts'
import { ampleMs } from '../../support/patient-run.ts'
import { bun, node, python, shell, useLazaret } from '../../support/use-lazaret.ts'

const guests = await useLazaret()

const MiB = 1024 * 1024
const limits = { diskBytes: 8 * MiB, memoryBytes: 256 * MiB, wallMs: ampleMs }
const diskExceeded = { kind: 'limit-exceeded', limit: 'disk', allowed: limits.diskBytes }

const fillFromJavaScript = (folder: string) => `
  const fs = await import('node:fs'), os = await import('node:os')
  for (let i = 0; ; i++) fs.writeFileSync(${folder} + '/lazaret-fill-' + i, new Uint8Array(1 << 20).fill(1))`

const fills = {
  'shell in the workspace': {
    ...shell,
    code: 'i=0; while head -c 1000000 /dev/zero > lazaret-fill-$i; do i=$((i+1)); done; exit 1',
  },
  'shell in the temporary folder': {
    ...shell,
    code: 'cd ${TMPDIR:-/tmp}; i=0; while head -c 1000000 /dev/zero > lazaret-fill-$i; do i=$((i+1)); done; exit 1',
  },
  'shell in one file': { ...shell, code: 'exec cat /dev/zero > lazaret-fill' },
  'python in the workspace': {
    ...python,
    code: 'i = 0\nwhile True:\n    open("lazaret-fill-%d" % i, "wb").write(b"x" * (1 << 20))\n    i += 1',
  },
  'bun in the temporary folder': { ...bun, code: fillFromJavaScript('os.tmpdir()') },
  'node in the workspace': { ...node, code: fillFromJavaScript('os.homedir()') },
}

for (const [name, request] of Object.entries(fills)) {
  test(`filling the disk from ${name} is limit-exceeded, and no file appears on the host`, async () => {
    const { outcome } = await keepMemoryFlat(() => guests.run({ ...request, limits }))
    assert.deepEqual(outcome, diskExceeded)
    for (const folder of ['/tmp', '/workspace', process.cwd()])
      assert.ok(!existsSync(`${folder}/lazaret-fill-0`) && !existsSync(`${folder}/lazaret-fill`))
  })
}

// The signal is the only evidence, and a guest can send it to itself, so the outcome is only that signal.
test('shell: a sparse file of 1 TB is refused', async () => {
  const { outcome, usage } = await guests.run({ ...shell, code: 'exec truncate -s 1T huge', limits })
  assert.deepEqual(outcome, { kind: 'killed', signal: 'SIGXFSZ' })
  assert.ok(usage.memoryPeakBytes < 64 * MiB)
})

const sparse = {
  python: { ...python, code: 'open("huge", "wb").truncate(1 << 40)' },
  bun: {
    ...bun,
    code: `const fs = await import('node:fs'); fs.truncateSync('huge2', (fs.writeFileSync('huge2', ''), 2 ** 40))`,
  },
  node: {
    ...node,
    code: `const fs = await import('node:fs'); fs.writeFileSync('huge', ''); fs.truncateSync('huge', 2 ** 40)`,
  },
}

for (const [name, request] of Object.entries(sparse)) {
  test(`${name}: a sparse file of 1 TB fails with EFBIG`, async () => {
    const { outcome } = await guests.run({ ...request, limits })
    assert.equal(outcome.kind, 'failed')
    assert.match(outcome.kind === 'failed' ? outcome.error.message : '', /EFBIG|too large/i)
  })
}

const manyFiles = {
  shell: { ...shell, code: 'i=0; while : > f$i; do i=$((i+1)); done 2>/dev/null; exit 1' },
  python: {
    ...python,
    code: 'import os\ni = 0\nwhile True:\n    os.close(os.open("f%d" % i, os.O_CREAT | os.O_WRONLY))\n    i += 1',
  },
  bun: {
    ...bun,
    code: `const fs = await import('node:fs'); for (let i = 0; ; i++) fs.closeSync(fs.openSync('f' + i, 'w'))`,
  },
  node: { ...node, code: `const fs = await import('node:fs'); for (let i = 0; ; i++) fs.mkdirSync('d' + i)` },
}

for (const [name, request] of Object.entries(manyFiles)) {
  test(`${name}: empty files without end are limit-exceeded`, async () => {
    const { outcome } = await guests.run({ ...request, limits })
    assert.deepEqual(outcome, diskExceeded)
  })
}

test('5,000 levels of folders with 255-byte names are removed without problems, wherever they are allowed', async () => {
  const code = `
import os
name = 'n' * 255
for _ in range(5000):
    os.mkdir(name)
    os.chdir(name)
open(name, 'w').write('deep')
print(len(os.listdir('.')), flush=True)
${guests.level === 'restricted' ? 'import time; time.sleep(9)' : ''}`
  const { outcome, stdout } = await guests.run({
    ...python,
    code,
    // Seconds; a machine where others work takes minutes.
    limits: { ...limits, diskBytes: 128 * MiB, wallMs: 300_000 },
  })
  if (guests.level === 'restricted') {
    // Files are counted by a walk, which does not go that deep.
    assert.deepEqual(outcome, { kind: 'limit-exceeded', limit: 'disk', allowed: 128 * MiB })
  } else {
    assert.deepEqual(outcome, { kind: 'completed', exitCode: 0 })
    assert.equal(stdout, '1\n')
  }
  await guests.leaks.check()
})

test('a program that handles the full disk itself completes', async () => {
  const code = 'head -c 20000000 /dev/zero > fill || rm fill; echo ok > small; cat small'
  const { outcome, stdout } = await guests.run({ ...shell, code, limits })
  assert.deepEqual(outcome, { kind: 'completed', exitCode: 0 })
  assert.equal(stdout, 'ok\n')
})
