/** Watching which shared files the host and other cells execute and read. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync, readdirSync } from 'node:fs'
import { test } from 'node:test'

import type { HostFunction } from '../../../src/index.ts'
import { python, shell, useLazaret } from '../../support/use-lazaret.ts'

const guests = await useLazaret()

/** Ordinary activity: the host starts a program and reads a file, and so does another cell. */
const bustle: HostFunction = async () => {
  execFileSync('/usr/bin/env', ['true'])
  readFileSync('/usr/bin/env')
  readdirSync('/usr/bin')
  const { outcome } = await guests.run({
    ...shell,
    code: 'env true; ls /usr/bin > /dev/null; cat /usr/bin/env > /dev/null',
  })
  assert.equal(outcome.kind, 'completed')
}

const watching = `
import ctypes, errno, os
libc = ctypes.CDLL(None, use_errno=True)
IN_ACCESS, IN_OPEN, IN_CLOSE = 0x1, 0x20, 0x18
fd = libc.inotify_init1(os.O_NONBLOCK)
watched = 0
for path in (b'/usr', b'/usr/bin', b'/usr/bin/env', b'/usr/lib', b'/etc/ld.so.cache'):
    if libc.inotify_add_watch(fd, path, IN_ACCESS | IN_OPEN | IN_CLOSE) >= 0: watched += 1
bustle()
try: seen = len(os.read(fd, 65536))
except OSError: seen = 0
[watched, seen]`

test('a guest sees nothing of what others open and execute in the folders that all cells show', async () => {
  const { value, stderr } = await guests.run({ ...python, code: watching, functions: { bustle } })
  assert.equal((value as number[])[1], 0, `${JSON.stringify(value)} ${stderr}`)
})

const notifying = `
import errno, fcntl, os, signal
seen = 0
def count(*_):
    global seen
    seen += 1
signal.signal(signal.SIGIO, count)
held = []
for path in ('/usr', '/usr/bin', '/usr/lib'):
    fd = os.open(path, os.O_RDONLY)
    held.append(fd)
    # F_NOTIFY: DN_ACCESS, DN_CREATE, DN_DELETE, DN_RENAME, DN_ATTRIB, DN_MULTISHOT
    try: fcntl.fcntl(fd, 1026, 0x1 | 0x4 | 0x8 | 0x10 | 0x20 | -0x80000000)
    except OSError: pass
bustle()
seen`

test('a guest gets no signal when others read the folders that all cells show', async () => {
  const { value, stderr } = await guests.run({ ...python, code: notifying, functions: { bustle } })
  assert.equal(value, 0, stderr)
})
