/** Folders that several cells share: watching which files others read, and evicting them from the page cache. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { python, useLazaret } from '../../support/use-lazaret.ts'

const guests = await useLazaret()
const number = (x64: number, arm64: number) => (process.arch === 'x64' ? x64 : arm64)

const code = `
import ctypes, errno, json, os
libc = ctypes.CDLL(None, use_errno=True)
seen = []
def attempt(name, number, *arguments):
    ctypes.set_errno(0)
    if libc.syscall(number, *arguments) != -1: seen.append(name)
wide = ctypes.c_uint64
folder = os.open('/usr/bin', os.O_RDONLY)
file = os.open('/usr/bin/env', os.O_RDONLY)
attempt('signals when a file is read', ${number(72, 25)}, folder, 1026, wide(0x80000001))
attempt('signals when a file is made', ${number(72, 25)}, folder, 1026, wide(0x80000004))
attempt('a lease', ${number(72, 25)}, file, 1024, wide(0))
watch = libc.inotify_init1(0)
for mask in (0x1, 0x10, 0x20, 0xfff, 0x31): attempt('a watch %x' % mask, ${number(254, 27)}, watch, b'/usr/bin', mask)
buffer = ctypes.create_string_buffer(4096)
vector = (wide * 2)(ctypes.addressof(buffer), 4096)
attempt('what is in memory', ${number(327, 286)}, file, vector, 1, 0, 0, 8)
attempt('what is dropped', ${number(327, 286)}, file, vector, 1, 0, 0, 128)

print(json.dumps([seen, libc.posix_fadvise(file, wide(0), wide(0), 4)]))`

test('python: a guest can neither watch reads of shared files nor query which are in memory, and advice has no effect', async () => {
  const { outcome, stdout, stderr } = await guests.run({ ...python, code })
  assert.deepEqual(outcome, { kind: 'completed', exitCode: 0 }, stderr)
  assert.deepEqual(JSON.parse(stdout), [[], 0])
})

const evict = `
import mmap, os, ctypes
name = '/usr/lib/os-release'
file = os.open(name, os.O_RDONLY)
os.read(file, 1)
os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
memory = mmap.mmap(file, os.fstat(file).st_size, prot=mmap.PROT_READ)
print('done')`

test('python: a program that gives this advice continues', async () => {
  assert.equal((await guests.run({ ...python, code: evict })).stdout, 'done\n')
})
