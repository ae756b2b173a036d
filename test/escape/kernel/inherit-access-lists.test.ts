/**
 * Access control lists: the default ACL of a folder, up to 64 KiB, is copied to each file made in it, and no cgroup is charged.
 * Also `sync`, which writes back the whole machine's files; a guest without a disk does not need it.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { python, useLazaret } from '../../support/use-lazaret.ts'

const guests = await useLazaret()

const code = `
import ctypes, errno, json, os, struct
libc = ctypes.CDLL(None, use_errno=True)
everybody = 0xffffffff
entries = [(1, 7, everybody), (2, 7, os.getuid()), (4, 5, everybody), (16, 7, everybody), (32, 5, everybody)]
rights = struct.pack('<I', 2) + b''.join(struct.pack('<HHI', *entry) for entry in entries)
os.mkdir('folder')
handle = os.open('folder', os.O_RDONLY)
taken = []
for name in (b'system.posix_acl_default', b'system.posix_acl_access', b'user.anything'):
    for call in (lambda: libc.setxattr(b'folder', name, rights, len(rights), 0), lambda: libc.lsetxattr(b'folder', name, rights, len(rights), 0), lambda: libc.fsetxattr(handle, name, rights, len(rights), 0)):
        ctypes.set_errno(0)
        if call() == 0 or ctypes.get_errno() != errno.EOPNOTSUPP: taken.append((name.decode(), ctypes.get_errno()))
os.sync()
libc.syncfs(handle)
os.fsync(handle)
print(json.dumps(taken))`

test('python: no file gets an access list, and programs that sync files continue', async () => {
  const { outcome, stdout, stderr } = await guests.run({ ...python, code })
  assert.deepEqual(outcome, { kind: 'completed', exitCode: 0 }, stderr)
  assert.deepEqual(JSON.parse(stdout), [])
})
