/**
 * Options that take resources of the machine that no limit counts: filters compiled into a shared budget, keys of peers,
 * memory policies that stay with files, the host's huge pages, a futex table for each process.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { python, useLazaret } from '../../support/use-lazaret.ts'

const guests = await useLazaret()
const isIntel = process.arch === 'x64'
const number = (x64: number, arm64: number) => (isIntel ? x64 : arm64)

const code = `
import ctypes, errno, json, os, socket, struct
libc = ctypes.CDLL(None, use_errno=True)
words = ctypes.c_uint64
taken = []
def attempt(name, number, *arguments):
    ctypes.set_errno(0)
    given = [words(value) if isinstance(value, int) else value for value in arguments]
    if libc.syscall(number, *given) != -1: taken.append(name)
accept_all = ctypes.create_string_buffer(struct.pack('HBBI', 0x06, 0, 0, 0x7fff0000))
program = ctypes.create_string_buffer(struct.pack('HxxxxxxQ', 1, ctypes.addressof(accept_all)))
one = ctypes.create_string_buffer(struct.pack('i', 1))
try: ends = [socket.socket(socket.AF_INET, socket.SOCK_STREAM), socket.socket(socket.AF_INET, socket.SOCK_DGRAM)]
except OSError: ends = []
ends += socket.socketpair()
for end in ends:
    for option in (26, 51):
        attempt('a filter on a socket %d' % option, ${number(54, 208)}, end.fileno(), 1, option, program, 16)
    attempt('copies without copying', ${number(54, 208)}, end.fileno(), 1, 60, one, 4)
    key = ctypes.create_string_buffer(struct.pack('=HHI', 2, 0, 0x0100007f).ljust(128, b'\\0') + struct.pack('=BBHI', 0, 0, 1, 0) + b'k' * 80)
    attempt('a key of a peer', ${number(54, 208)}, end.fileno(), 6, 14, key, 216)
    attempt('a key of a network of peers', ${number(54, 208)}, end.fileno(), 6, 32, key, 216)
    group = ctypes.create_string_buffer(struct.pack('=4sIi', bytes((224, 1, 2, 3)), 0, 1))
    attempt('a group', ${number(54, 208)}, end.fileno(), 0, 35, group, 12)
    attempt('a flow label', ${number(54, 208)}, end.fileno(), 41, 32, ctypes.create_string_buffer(bytes(15) + b'\\1' + struct.pack('>IBBHHHI', 0, 1, 1, 1, 6, 6, 0)), 32)
if os.fork() == 0:
    attempt('a filter for calls', ${number(157, 167)}, 22, 2, program, 0, 0)
    attempt('a filter for calls by its own call', ${number(317, 277)}, 1, 0, program)
    attempt('a futex table', ${number(157, 167)}, 78, 1, 256, 0, 0)
    mask = ctypes.create_string_buffer(struct.pack('Q', 1))
    attempt('a memory policy', ${number(238, 237)}, 2, mask, 64)
    page = libc.mmap
    page.restype = words
    page.argtypes = [words, words, ctypes.c_int, ctypes.c_int, ctypes.c_int, words]
    start = page(0, 4096, 3, 0x22, -1, 0)
    attempt('a memory policy of a page', ${number(237, 235)}, start, 4096, 2, mask, 64, 0)
    if page(0, 2 << 20, 3, 0x40022, -1, 0) != 2 ** 64 - 1: taken.append('huge pages')
    attempt('a file of huge pages', ${number(319, 279)}, ctypes.create_string_buffer(b'x'), 4)
    attempt('merged pages', ${number(28, 233)}, start, 4096, 12)
    attempt('merged pages of everything', ${number(157, 167)}, 67, 1, 0, 0, 0)
    print(json.dumps(taken), flush=True)
    os._exit(0)
os.wait()`

test('python: no option takes a resource that no limit counts', async () => {
  const { outcome, stdout, stderr } = await guests.run({ ...python, code })
  assert.deepEqual(outcome, { kind: 'completed', exitCode: 0 }, stderr)
  assert.deepEqual(JSON.parse(stdout), [])
})
