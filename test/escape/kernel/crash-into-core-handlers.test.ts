/**
 * Crashes: if a host pipes core dumps to a program, the kernel starts it as root, outside every cell, with the guest's
 * memory as its input. Only a core limit of exactly one byte prevents that, so a guest must not be able to change it.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { bun, node, python, shell, useLazaret } from '../../support/use-lazaret.ts'

const guests = await useLazaret()

const readLimit = `[line.split()[4:6] for line in open('/proc/self/limits') if line.startswith('Max core')][0]`

const code = `
import ctypes, json, mmap, os, platform, resource
libc = ctypes.CDLL(None, use_errno=True)
intel = platform.machine() == 'x86_64'
setrlimit, prlimit64 = (160, 302) if intel else (164, 261)
# An address whose low half is zero: a filter that checks only that half would take it for a null pointer.
libc.mmap.restype = ctypes.c_void_p
aligned = libc.mmap(ctypes.c_void_p(1 << 36), ctypes.c_size_t(4096), 3, 0x100022, -1, ctypes.c_long(0))
seen = []
for value in (0, 2, 1 << 20, (1 << 64) - 1):
    limit = (ctypes.c_uint64 * 2)(value, value)
    half = (ctypes.c_uint64 * 2)(value, 1)
    for one in (limit, half):
        libc.syscall(setrlimit, 4, one)
        libc.syscall(ctypes.c_long(setrlimit), ctypes.c_long(4 | 1 << 32), one)
        libc.syscall(prlimit64, 0, 4, one, None)
        libc.syscall(prlimit64, os.getpid(), 4, one, None)
        libc.syscall(ctypes.c_long(prlimit64), ctypes.c_long(0), ctypes.c_long(4 | 1 << 40), one, None)
        if aligned:
            ctypes.memmove(aligned, one, 16)
            libc.syscall(prlimit64, 0, 4, ctypes.c_void_p(aligned), None)
        try: resource.setrlimit(resource.RLIMIT_CORE, (value, value))
        except (OSError, ValueError, OverflowError): pass
        seen.append(${readLimit})
print(aligned == 1 << 36, seen == [['1', '1']] * 8, resource.getrlimit(resource.RLIMIT_CORE))`

test('python: the limit on cores is one byte, and stays one byte whatever a guest asks for', async () => {
  const { outcome, stdout, stderr } = await guests.run({ ...python, code })
  assert.deepEqual(outcome, { kind: 'completed', exitCode: 0 }, stderr)
  assert.equal(stdout, 'True True (1, 1)\n')
})

test('shell: `ulimit -c 0` is no error, and changes nothing', async () => {
  const script = `set -e; ulimit -c 0; ulimit -c unlimited; exec grep '^Max core' /proc/self/limits`
  const { stdout } = await guests.run({ ...shell, code: script })
  assert.equal(stdout.replaceAll(/ +/g, ' '), 'Max core file size 1 1 bytes \n')
})

const crashes = {
  shell: { ...shell, code: 'kill -SEGV $$' },
  python: { ...python, code: 'import ctypes; ctypes.string_at(0)' },
  bun: { ...bun, code: `process.kill(process.pid, 'SIGSEGV')` },
  node: { ...node, code: `process.kill(process.pid, 'SIGSEGV')` },
}

for (const [name, request] of Object.entries(crashes)) {
  test(`${name}: a crash is reported as killed by its signal, and leaves no core`, async () => {
    const { outcome, files } = await guests.run({ ...request, collect: ['**'] })
    assert.equal(outcome.kind, 'killed')
    assert.deepEqual(
      Object.keys(files).filter((path) => path.includes('core')),
      [],
    )
  })
}
