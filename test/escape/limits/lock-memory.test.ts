/** Memory that the kernel cannot reclaim: mlock and similar calls stay within their small limit. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { python, useLazaret } from '../../support/use-lazaret.ts'

const guests = await useLazaret()

const code = `
import ctypes, errno, mmap, os, re
libc = ctypes.CDLL(None, use_errno=True)
answers = {}
def attempt(name, action):
    ctypes.set_errno(0)
    answers[name] = 'ok' if action() not in (-1, None) else errno.errorcode[ctypes.get_errno()]
size = 4 << 20
private = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
address = ctypes.c_void_p(ctypes.addressof(ctypes.c_char.from_buffer(private)))
length = ctypes.c_size_t(size)
libc.mmap.restype = ctypes.c_long
attempt('mlock', lambda: libc.mlock(address, length))
attempt('mlock2', lambda: libc.mlock2(address, length, 1))
for flags in (1, 2, 3, 4, 7): attempt('mlockall %d' % flags, lambda: libc.mlockall(flags) if flags & 1 else libc.mlockall(flags) or (libc.mmap(None, length, 3, 0x22, -1, ctypes.c_long(0))))
libc.munlockall()
attempt('MAP_LOCKED', lambda: libc.mmap(None, length, 3, 0x2022, -1, ctypes.c_long(0)))
attempt('huge pages', lambda: libc.mmap(None, length, 3, 0x40022, -1, ctypes.c_long(0)))
locked = int(re.search(r'VmLck:\\s+(\\d+)', open('/proc/self/status').read()).group(1))
print([name for name, answer in answers.items() if answer == 'ok'], locked <= 64)`

test('python: no call locks more than 64 KiB', async () => {
  const { outcome, stdout, stderr } = await guests.run({ ...python, code })
  assert.deepEqual(outcome, { kind: 'completed', exitCode: 0 }, stderr)
  assert.equal(stdout, '[] True\n')
})
