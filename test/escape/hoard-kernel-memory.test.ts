/** Memory that lies in the kernel for a process: what waits in pipes and sockets that nobody reads. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { keepMemoryFlat } from '../support/resident-memory.ts'
import { python, useLazaret } from '../support/use-lazaret.ts'

const guests = await useLazaret()

const MiB = 1024 * 1024
const limits = { memoryBytes: 64 * MiB, processesMax: 16, wallMs: 10_000 }
const skip = guests.heldByCgroup
  ? false
  : 'no cgroup here: no other layer counts what waits in pipes and sockets'

const fork = `
import fcntl, os, socket, time
for _ in range(5):
    if os.fork() == 0: break
kept = []`

const hoards = {
  pipes: `
while len(kept) < 100:
    reader, writer = os.pipe()
    try: fcntl.fcntl(writer, 1031, 1 << 20)
    except OSError: pass
    os.set_blocking(writer, False)
    try:
        while True: os.write(writer, b'x' * 65536)
    except BlockingIOError: pass
    kept.append((reader, writer))`,
  'unix sockets': `
while len(kept) < 100:
    pair = socket.socketpair()
    for end in pair:
        end.setblocking(False)
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
        try:
            while True: end.send(b'x' * 32768)
        except BlockingIOError: pass
    kept.append(pair)`,
}

for (const [name, code] of Object.entries(hoards)) {
  test(`what waits in ${name} counts as memory: out-of-memory`, { skip }, async () => {
    const { outcome } = await keepMemoryFlat(() =>
      guests.run({ ...python, code: `${fork}${code}\ntime.sleep(0.5)\nwhile True: os.wait()`, limits }),
    )
    assert.deepEqual(outcome, { kind: 'out-of-memory', limitBytes: limits.memoryBytes })
  })
}

/** One page read in every two MiB of 96 GiB: nothing resident, nothing that RLIMIT_DATA counts, 192 MiB of page tables. */
const pageTables = `
import ctypes, time
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
size, readable, private_anonymous_unreserved, no_huge_pages = 96 << 30, 1, 0x2 | 0x20 | 0x4000, 15
start = libc.mmap(None, size, readable, private_anonymous_unreserved, -1, 0)
libc.madvise(start, size, no_huge_pages)
for at in range(start, start + size, 2 << 20): ctypes.c_char.from_address(at).value
time.sleep(5)`

test('page tables count as memory: out-of-memory', async () => {
  const { outcome } = await keepMemoryFlat(() => guests.run({ ...python, code: pageTables, limits }))
  assert.deepEqual(outcome, { kind: 'out-of-memory', limitBytes: limits.memoryBytes })
})
