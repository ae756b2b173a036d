/** Mounting: every old and new call, on everything that could be uncovered, moved or made writable. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'

import { pythonSyscalls } from '../../support/hostile/guest-python.ts'
import { python, shell, useLazaret } from '../../support/use-lazaret.ts'

const guests = await useLazaret()

/** The same numbers on both architectures. */
const newer = {
  fsconfig: 431,
  fsmount: 432,
  fspick: 433,
  open_tree_attr: 467,
  statmount: 457,
  listmount: 458,
}

const code = `${pythonSyscalls}
_numbers.update(${JSON.stringify(newer)})
def mounts():
    try: return open('/proc/self/mountinfo').read()
    except PermissionError: return None # the host's, and not to be seen
before = mounts()
types = [b'tmpfs', b'proc', b'sysfs', b'cgroup', b'cgroup2', b'overlay', b'devpts', b'mqueue', b'ramfs', b'bpf', b'debugfs', b'fuse', b'9p', b'ext4', b'nfs', b'devtmpfs', b'binfmt_misc']
targets = [b'/', b'/tmp', b'/workspace', b'/usr', b'/etc', b'/proc', b'/proc/sys', b'/dev', b'/dev/pts', b'/opt/lazaret', b'/run']
answers = {}
def note(name, answer): answers.setdefault(name, set()).add(answer)
for target in targets:
    for kind in types: note('mount', call('mount', b'none', target, kind, 0, None))
    for flags in (4096, 4096 | 16384, 32, 32 | 4096, 8192, 1 << 18, 1 << 19, 1 << 20, 32 | 2 | 4 | 8): note('mount flags', call('mount', b'/tmp', target, None, flags, None))
    for flags in (0, 1, 2, 4, 8): note('umount2', call('umount2', target, flags))
    for flags in (0, 1, 1 | 0x8000, 1 | 0x8000 | 0x80000): note('open_tree', call('open_tree', -100, target, flags))
    note('open_tree_attr', call('open_tree_attr', -100, target, 1, (ctypes.c_uint64 * 4)(0, 1), 32))
    note('move_mount', call('move_mount', -100, b'/tmp', -100, target, 0))
    note('mount_setattr', call('mount_setattr', -100, target, 0x8000, (ctypes.c_uint64 * 4)(0, 1), 32))
    note('fspick', call('fspick', -100, target, 0))
    note('pivot_root', call('pivot_root', target, target))
    note('chroot', call('chroot', target))
for kind in types: note('fsopen', call('fsopen', kind, 0))
for command in range(9): note('fsconfig', call('fsconfig', 0, command, b'source', b'x', 0))
note('fsmount', call('fsmount', 0, 0, 0))
note('statmount', call('statmount', (ctypes.c_uint64 * 4)(32), (ctypes.c_char * 512)(), 512, 0))
note('listmount', call('listmount', (ctypes.c_uint64 * 4)(32), (ctypes.c_uint64 * 16)(), 16, 0))
assert mounts() == before
print(json.dumps({name: sorted(found) for name, found in answers.items()}))`

const refused = [
  'mount',
  'mount flags',
  'umount2',
  'open_tree',
  'open_tree_attr',
  'move_mount',
  'mount_setattr',
  'fspick',
  'pivot_root',
  'chroot',
  'fsopen',
  'fsconfig',
  'fsmount',
]

/** Without a mount namespace, the host's mounts must not change. */
function mountsOfHost(): string {
  return readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .filter((line) => !line.includes('lazaret'))
    .join('\n')
}

test('python: no system call for mounts has an effect, whatever its arguments, and the mounts are unchanged', async () => {
  const { outcome, stdout, stderr } = await guests.run({ ...python, code })
  assert.deepEqual(outcome, { kind: 'completed', exitCode: 0 }, stderr)
  const expected = Object.fromEntries(refused.map((name) => [name, ['EPERM']]))
  assert.deepEqual(JSON.parse(stdout), { ...expected, statmount: ['ENOSYS'], listmount: ['ENOSYS'] })
})

test('shell: mount, umount and their relatives change nothing', async () => {
  const before = mountsOfHost()
  const script = `cat /proc/$$/mountinfo > before 2>/dev/null; for t in /tmp /usr /proc $HOME; do mount -t tmpfs none $t; mount --bind /tmp $t; mount -o remount,rw $t; mount -o remount,rw,bind $t; mount --make-shared $t; mount --move /tmp $t; umount -l $t; umount $t; done 2>/dev/null && echo done; fusermount -u /tmp 2>/dev/null && echo fuse; losetup -f 2>/dev/null; cmp before /proc/$$/mountinfo 2>/dev/null && echo same`
  const seen = guests.level === 'restricted' ? '' : 'same\n'
  assert.equal((await guests.run({ ...shell, code: script })).stdout, seen)
  if (guests.level === 'restricted') assert.equal(mountsOfHost(), before)
})
