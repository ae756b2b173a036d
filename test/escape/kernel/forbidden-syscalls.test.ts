/** System calls that would enlarge the attack surface fail, with the errno that programs expect. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'

import { pythonSyscalls } from '../../support/hostile/guest-python.ts'
import { python, shell, useLazaret } from '../../support/use-lazaret.ts'

const guests = await useLazaret()

const newUser = 0x10000000
const newAnything = [0x00020000, 0x02000000, 0x04000000, 0x08000000, newUser, 0x20000000, 0x40000000]
const forkSignal = 17

/** Name, arguments as Python source, errno. */
const calls: readonly (readonly [string, string, string])[] = [
  ...newAnything.map((flag) => ['unshare', String(flag), 'EPERM'] as const),
  ...newAnything.map((flag) => ['clone', `${flag | forkSignal}, 0, 0, 0, 0`, 'EPERM'] as const),
  ['clone3', `(ctypes.c_uint64 * 11)(${newUser}), 88`, 'ENOSYS'],
  ['setns', '0, 0', 'EPERM'],
  ['mount', `b'none', b'/tmp', b'tmpfs', 0, None`, 'EPERM'],
  ['mount', `None, b'/usr', None, 32 | 4096, None`, 'EPERM'],
  ['umount2', `b'/proc/sys', 2`, 'EPERM'],
  ['pivot_root', `b'/tmp', b'/tmp'`, 'EPERM'],
  ['chroot', `b'/tmp'`, 'EPERM'],
  ['open_tree', `-100, b'/', 1`, 'EPERM'],
  ['move_mount', `-100, b'/usr', -100, b'/tmp', 0`, 'EPERM'],
  ['fsopen', `b'tmpfs', 0`, 'EPERM'],
  ['mount_setattr', `-100, b'/usr', 0, (ctypes.c_uint64 * 4)(0, 1), 32`, 'EPERM'],
  ['open_by_handle_at', '3, (ctypes.c_int * 34)(128, 1), 0', 'EPERM'],
  ['bpf', '0, (ctypes.c_uint64 * 16)(), 128', 'EPERM'],
  ['io_uring_setup', '8, (ctypes.c_uint64 * 15)()', 'ENOSYS'],
  ['keyctl', '0, -3, 0', 'ENOSYS'],
  ['add_key', `b'user', b'x', b'y', 1, -3`, 'ENOSYS'],
  ['request_key', `b'user', b'x', None, 0`, 'ENOSYS'],
  ['perf_event_open', '(ctypes.c_uint64 * 16)(128 << 32), 0, -1, -1, 0', 'EPERM'],
  ['userfaultfd', '1', 'ENOSYS'],
  ['ptrace', '0, 0, 0, 0', 'EPERM'],
  ['ptrace', '16, os.getppid(), 0, 0', 'EPERM'],
  ['process_vm_readv', 'os.getpid(), None, 0, None, 0, 0', 'EPERM'],
  ['process_vm_writev', 'os.getpid(), None, 0, None, 0, 0', 'EPERM'],
  ['process_madvise', '0, None, 0, 0, 0', 'EPERM'],
  ['pidfd_getfd', '0, 0, 0', 'EPERM'],
  ['kcmp', 'os.getpid(), os.getpid(), 0, 0, 0', 'EPERM'],
  ['move_pages', 'os.getpid(), 0, None, None, None, 0', 'EPERM'],
  ['fanotify_init', '0, 0', 'EPERM'],
  ['kexec_load', '0, 0, None, 0', 'EPERM'],
  ['init_module', `None, 0, b''`, 'EPERM'],
  ['finit_module', `0, b'', 0`, 'EPERM'],
  ['delete_module', `b'ext4', 0`, 'EPERM'],
  ['reboot', '0xfee1dead, 672274793, 0', 'EPERM'],
  ['settimeofday', '(ctypes.c_uint64 * 2)(1), None', 'EPERM'],
  ['clock_settime', '0, (ctypes.c_uint64 * 2)(1)', 'EPERM'],
  ['adjtimex', '(ctypes.c_uint64 * 26)()', 'EPERM'],
  ['personality', '0x0040000', 'EPERM'],
  ...[
    0x0020000, 0x0040000, 0x0100000, 0x0200000, 0x0400000, 0x0800000, 0x2000000, 0x4000000, 0x8000000, 8,
    0x10,
  ].map((flag) => ['personality', String(flag), 'EPERM'] as const),
  ['migrate_pages', 'os.getpid(), 0, None, None', 'EPERM'],
  ['kexec_file_load', `-1, -1, 0, b'', 0`, 'EPERM'],
  ['clock_adjtime', '0, (ctypes.c_uint64 * 26)()', 'EPERM'],
  ['swapoff', `b'/tmp'`, 'EPERM'],
  ['setdomainname', `b'x', 1`, 'EPERM'],
  ['lookup_dcookie', '0, None, 0', 'EPERM'],
  ['vhangup', '', 'EPERM'],
  ['quotactl_fd', '0, 0, 0, None', 'EPERM'],
  ['lsm_set_self_attr', '100, None, 0, 0', 'EPERM'],
  ['seccomp', '1, 8, None', 'EINVAL'],
  ['io_uring_enter', '0, 0, 0, 0, None, 0', 'ENOSYS'],
  ['io_uring_register', '0, 0, None, 0', 'ENOSYS'],
  ['io_setup', '1, (ctypes.c_uint64 * 1)()', 'ENOSYS'],
  ['cachestat', '0, None, None, 0', 'ENOSYS'],
  ['syslog', '3, None, 0', 'EPERM'],
  ['swapon', `b'/tmp', 0`, 'EPERM'],
  ['acct', 'None', 'EPERM'],
  ['sethostname', `b'x', 1`, 'EPERM'],
  ['quotactl', '0, None, 0, None', 'EPERM'],
  ['vmsplice', '0, None, 0, 0', 'ENOSYS'],
  ['memfd_secret', '0', 'ENOSYS'],
  ['prlimit64', '1, 7, None, (ctypes.c_uint64 * 2)()', 'EPERM'],
  // AF_VSOCK, AF_ALG, AF_PACKET, AF_BLUETOOTH, netlink audit, raw.
  ['socket', '40, 1, 0', 'EAFNOSUPPORT'],
  ['socket', '38, 5, 0', 'EAFNOSUPPORT'],
  ['socket', '17, 3, 768', 'EAFNOSUPPORT'],
  ['socket', '31, 3, 1', 'EAFNOSUPPORT'],
  ['socket', '16, 3, 9', 'EAFNOSUPPORT'],
  // Without a network namespace there is no family at all.
  ['socket', '2, 3, 1', guests.level === 'restricted' ? 'EAFNOSUPPORT' : 'EPERM'],
  ['ioctl', `0, 0x5412, b'x'`, 'ENOTTY'],
  ['ioctl', `0, 0x5412 | (1 << 40), b'x'`, 'ENOTTY'],
]

test('python: every call that would enlarge the attack surface fails with its errno', async () => {
  const rows = calls.map(([name, given]) => `('${name}', lambda: call('${name}', ${given}))`)
  const code = `${pythonSyscalls}\nprint(json.dumps([attempt() for name, attempt in [${rows.join(', ')}]]))`
  const { outcome, stdout, stderr } = await guests.run({ ...python, code })
  assert.deepEqual(outcome, { kind: 'completed', exitCode: 0 }, stderr)
  const answers = JSON.parse(stdout) as string[]
  assert.deepEqual(
    calls.map(([name, given], i) => `${name}(${given}) ${answers[i]}`),
    calls.map(([name, given, errno]) => `${name}(${given}) ${errno}`),
  )
})

const isIntel = process.arch === 'x64' ? false : 'foreign system call tables of x86 exist on x86-64 only'

test('a call through the 32-bit table ends the program', { skip: isIntel }, async () => {
  // mov eax, 20 (getpid of i386); int 0x80; ret
  const code = `
import ctypes, mmap
page = mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
page.write(bytes([0xb8, 20, 0, 0, 0, 0xcd, 0x80, 0xc3]))
print('before', flush=True)
print(ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))())`
  const { outcome, stdout } = await guests.run({ ...python, code })
  // A kernel without 32-bit emulation has no 32-bit entry, so the instruction itself faults.
  const outside = spawnSync('python3', ['-c', code], { encoding: 'utf8' })
  const signal = outside.signal === 'SIGSEGV' ? 'SIGSEGV' : 'SIGSYS'
  assert.deepEqual(outcome, { kind: 'killed', signal })
  assert.equal(stdout, 'before\n')
})

test('shell: SIGSYS that a program sends to itself is no proof of a forbidden call', async () => {
  const { outcome } = await guests.run({ ...shell, code: 'kill -SYS $$' })
  assert.deepEqual(outcome, { kind: 'killed', signal: 'SIGSYS' })
})

// Above file_setattr (469), the newest call that was reviewed. 512 to 547 are x32's own.
test('numbers newer than the tables do not exist, whatever this kernel knows', async () => {
  const code = `${pythonSyscalls}
answers = {}
for number in [*range(470, 1200), 4096, 65536, 0x7fffffff, -2]:
    _numbers['x'] = number
    answers[number] = call('x', 0, 0, 0, 0, 0, 0)
print(len(answers), set(answers.values()))`
  assert.equal((await guests.run({ ...python, code })).stdout, "734 {'ENOSYS'}\n")
})

test('x32 numbers do not exist, for no call of either table', { skip: isIntel }, async () => {
  const code = `${pythonSyscalls}
answers = {}
for number in range(0, 601):
    _numbers['x'] = 0x40000000 | number
    answers[number] = call('x', 0, 0, 0, 0, 0, 0)
print(len(answers), set(answers.values()))`
  assert.equal((await guests.run({ ...python, code })).stdout, "601 {'ENOSYS'}\n")
})
