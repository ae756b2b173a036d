/** Folders exchanged with links in one step (RENAME_EXCHANGE), over and over, until the moment files are collected. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { ampleMs } from '../../support/patient-run.ts'
import { python, useLazaret } from '../../support/use-lazaret.ts'

const guests = await useLazaret()

const code = `
import ctypes, os, socket
libc = ctypes.CDLL(None)
exchange = lambda one, other: libc.renameat2(-100, one, -100, other, 2)
os.makedirs('folder/in'); open('folder/in/file', 'w').write('own')
os.makedirs('etc'); os.symlink('/etc', 'link'); os.symlink('/proc/1/root/etc', 'other')
open('file', 'w').write('own'); os.symlink('/etc/passwd', 'passwd'); os.mkfifo('pipe'); os.symlink('/dev/zero', 'endless')
try: socket.socket(socket.AF_UNIX).bind('socket')
except OSError: pass # no sockets without a network namespace
ready = os.pipe()
for turn in range(3):
    if os.fork() == 0:
        os.setsid()
        os.write(ready[1], b'x')
        while True:
            for pair in ((b'folder', b'link'), (b'folder/in', b'other'), (b'file', b'passwd'), (b'file', b'pipe'), (b'folder/in/file', b'endless'), (b'pipe', b'socket'), (b'etc', b'other'), (b'file', b'folder')):
                exchange(*pair)
for _ in range(3): os.read(ready[0], 1)
os._exit(0)`

test('files that are exchanged during collection return only data of the guest, and a pipe does not block', async () => {
  for (let turn = 0; turn < 15; turn++) {
    const { files, outcome } = await guests.run({
      ...python,
      code,
      collect: ['**', 'folder/in/file', 'link/passwd', 'pipe', 'endless', 'other/passwd'],
      limits: { wallMs: ampleMs },
    })
    assert.deepEqual(outcome, { kind: 'completed', exitCode: 0 })
    for (const [path, content] of Object.entries(files))
      assert.equal(Buffer.from(content).toString(), 'own', path)
  }
})
