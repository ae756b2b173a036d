/**
 * Files in memory: they outlive the process that wrote them, and no process's size includes them. Without a mount
 * namespace, guests write to the host's disk, and the same files count there.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { pythonSyscalls } from '../../support/hostile/guest-python.ts'
import { keepMemoryFlat } from '../../support/machine/resident-memory.ts'
import { ampleMs } from '../../support/patient-run.ts'
import { bun, node, python, shell, useLazaret } from '../../support/use-lazaret.ts'

const guests = await useLazaret()

const MiB = 1024 * 1024
const limits = { memoryBytes: 96 * MiB, diskBytes: 46 * MiB, wallMs: ampleMs }

const areInMemory = guests.level !== 'restricted'
const exceeded = areInMemory
  ? { kind: 'out-of-memory', limitBytes: limits.memoryBytes }
  : { kind: 'limit-exceeded', limit: 'disk', allowed: limits.diskBytes }
const places = areInMemory
  ? ['/tmp/fill', '/workspace/fill', '/dev/shm/fill']
  : ['../tmp/fill', '../tmp/more', 'fill']

/** One place alone is smaller than the memory limit; all three together are not. */
const fillFromJavaScript = `
  const fs = await import('node:fs')
  const bytes = new Uint8Array(1 << 20).fill(1)
  for (let i = 0; i < 126; i++) fs.appendFileSync(${JSON.stringify(places)}[i % 3], bytes)
  setTimeout(() => {}, 5000)`

const openAll = `
import mmap, os, time
files = [open(place, 'w+b', 0) for place in ${JSON.stringify(places)}]`

const attacks = {
  'shell: files in every folder that can be written': {
    ...shell,
    code: `for i in $(seq 42); do for place in ${places.join(' ')}; do head -c 1000000 /dev/zero >> $place || exit 1; done; done; sleep 5`,
  },
  'python: deleted files that are still open': {
    ...python,
    code: `${openAll}
for file in files: os.unlink(file.name)
for _ in range(42):
    for file in files: file.write(b'x' * (1 << 20))
time.sleep(5)`,
  },
  'python: shared mappings of files': {
    ...python,
    code: `${openAll}
for file in files:
    file.truncate(42 << 20)
    shared = mmap.mmap(file.fileno(), 42 << 20)
    for at in range(0, 42 << 20, 4096): shared[at] = 1
time.sleep(5)`,
  },
  'bun: files': { ...bun, code: fillFromJavaScript },
  'node: files': { ...node, code: fillFromJavaScript },
}

for (const [name, request] of Object.entries(attacks)) {
  test(`${name} count as ${areInMemory ? 'memory: out-of-memory' : 'disk: limit-exceeded'}`, async () => {
    const { outcome } = await keepMemoryFlat(() => guests.run({ ...request, limits }))
    assert.deepEqual(outcome, exceeded)
  })
}

test('/dev/shm alone is full at its own size, or cannot be written, and the run continues', async () => {
  const code =
    'head -c 20000000 /dev/zero > /dev/shm/fill 2>/dev/null; echo $?; rm -f /dev/shm/fill; echo ok > /dev/shm/next && cat /dev/shm/next; exit 0'
  const { outcome, stdout } = await guests.run({
    ...shell,
    code,
    limits: { diskBytes: 8 * MiB, wallMs: ampleMs },
  })
  assert.deepEqual(outcome, { kind: 'completed', exitCode: 0 })
  assert.match(stdout, areInMemory ? /^(1|153)\nok\n$/ : /^1\n$/)
})

const memfd = `${pythonSyscalls}
for _ in range(4):
    fd = _libc.syscall(ctypes.c_long(_numbers['memfd_create']), b'fill', ctypes.c_long(0))
    if fd < 0:
        print(errno.errorcode[ctypes.get_errno()])
        break
    for _ in range(40): os.write(fd, b'x' * (1 << 20))`

test('a memfd counts as memory with a cgroup, and does not exist without one', async () => {
  const { outcome, stdout } = await guests.run({ ...python, code: memfd, limits })
  if (guests.heldByCgroup)
    assert.deepEqual(outcome, { kind: 'out-of-memory', limitBytes: limits.memoryBytes })
  else assert.deepEqual([outcome, stdout], [{ kind: 'completed', exitCode: 0 }, 'ENOSYS\n'])
})
