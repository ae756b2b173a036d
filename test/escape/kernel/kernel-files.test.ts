/** Searching /proc and /sys for addresses, keys, switches and the host's settings. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { bun, node, python, shell, useLazaret } from '../../support/use-lazaret.ts'

const guests = await useLazaret()

const hidden = [
  '/proc/kcore',
  '/proc/keys',
  '/proc/key-users',
  '/proc/timer_list',
  '/proc/kmsg',
  '/proc/kallsyms',
  '/proc/sched_debug',
  '/proc/config.gz',
  '/proc/vmallocinfo',
  '/proc/kpagecount',
  '/proc/slabinfo',
  '/proc/pagetypeinfo',
  '/proc/locks',
  '/proc/zoneinfo',
  '/proc/buddyinfo',
  '/dev/mem',
  '/dev/kmem',
  '/dev/port',
  '/dev/kmsg',
  '/sys/kernel/notes',
  '/sys/fs/cgroup/memory/tasks',
  '/proc/sys/kernel/random/../../../kcore',
]
const switches = [
  '/proc/sys/kernel/core_pattern',
  '/proc/sys/kernel/modprobe',
  '/proc/sys/kernel/hotplug',
  '/proc/sys/kernel/randomize_va_space',
  '/proc/sys/kernel/unprivileged_bpf_disabled',
  '/proc/sys/vm/overcommit_memory',
  '/proc/sys/net/ipv4/ip_forward',
  '/proc/sys/user/max_user_namespaces',
  '/proc/sys/fs/binfmt_misc/register',
  '/proc/sysrq-trigger',
  '/proc/irq/default_smp_affinity',
  '/proc/acpi/wakeup',
  '/proc/bus/pci',
  '/proc/fs',
  '/proc/scsi/scsi',
  '/proc/pressure/cpu',
  '/proc/pressure/io',
  '/proc/pressure/memory',
  '/sys/power/state',
  '/sys/kernel/uevent_helper',
]
const input = { hidden, switches }

const lookFromJavaScript = `
  const fs = await import('node:fs')
  const size = (path) => { const fd = fs.openSync(path, 'r'); try { return fs.readSync(fd, new Uint8Array(4096)) } finally { fs.closeSync(fd) } }
  for (const path of input.hidden) { try { if (size(path) > 0) console.log('read', path) } catch {} }
  for (const path of input.switches) { try { fs.closeSync(fs.openSync(path, 'w')); console.log('opened', path) } catch {} }`

const attacks = {
  shell: {
    ...shell,
    code: `while read -r path; do test "$(head -c 4096 "$path" 2>/dev/null | wc -c)" -gt 0 && echo "read $path"; done < hidden; while read -r path; do (: >> "$path") 2>/dev/null && echo "opened $path"; (: > "$path") 2>/dev/null && echo "opened $path"; done < switches; exit 0`,
  },
  python: {
    ...python,
    code: `
for path in input_data['hidden']:
    try:
        if open(path, 'rb').read(4096): print('read', path)
    except OSError: pass
for path in input_data['switches']:
    for mode in ('w', 'a', 'r+'):
        try:
            open(path, mode).close()
            print('opened', path)
        except OSError: pass`,
  },
  bun: { ...bun, code: lookFromJavaScript },
  node: { ...node, code: lookFromJavaScript },
}

for (const [runtime, request] of Object.entries(attacks)) {
  test(`${runtime} reads no kernel memory, keys or symbols, and opens no switch of the kernel for writing`, async () => {
    const files = { hidden: `${hidden.join('\n')}\n`, switches: `${switches.join('\n')}\n` }
    const { outcome, stdout, stderr } = await guests.run({ ...request, input, files })
    assert.deepEqual(outcome, { kind: 'completed', exitCode: 0 }, stderr)
    assert.equal(stdout, '')
  })
}

const hasOwnView = guests.level !== 'restricted'
const isShared = hasOwnView ? 'guests have a view of files of their own here' : false
const isOwn = hasOwnView ? false : 'guests see the host’s own files here'

test(
  'there is no /sys, no cgroup file system, and the cgroup of the guest is called /',
  { skip: isOwn },
  async () => {
    const code = `ls -A /sys 2>/dev/null; grep -cE ' - (cgroup2?|sysfs|debugfs|tracefs|securityfs|bpf|mqueue) ' /proc/self/mountinfo; cut -d: -f3 /proc/self/cgroup | grep -c lazaret`
    assert.equal((await guests.run({ ...shell, code })).stdout, '0\n0\n')
  },
)

test('on the host’s own files /sys reveals only processors', { skip: isShared }, async () => {
  const code = `
import os
opened = []
for top in ('/sys', '/sys/fs/cgroup', '/sys/kernel', '/sys/class/net', '/sys/block', '/sys/devices/system', '/sys/devices/system/cpu', '/sys/devices/system/node', '/proc', '/dev'):
    try: os.listdir(top); opened.append(top)
    except PermissionError: pass
    except FileNotFoundError: pass
for path in ('/sys/fs/cgroup/cgroup.procs', '/sys/fs/cgroup/pids/cgroup.procs', '/sys/class/net/lo/address', '/sys/kernel/mm/transparent_hugepage/enabled', '/sys/class/dmi/id/product_name'):
    try: open(path).read(); opened.append(path)
    except (PermissionError, FileNotFoundError): pass
print(*opened)`
  assert.equal((await guests.run({ ...python, code })).stdout, '/sys/devices/system/cpu\n')
})

test(
  'on the host’s own files no entry in /proc reveals mounts, connections or other processes',
  { skip: isShared },
  async () => {
    const code = `
import os
refused = 0
names = ('mountinfo', 'mounts', 'mountstats', 'net/tcp', 'net/unix', 'net/route', 'net/arp', 'net/dev')
own = ['self/' + name for name in names] + ['thread-self/' + name for name in names]
own += ['self/task/%d/%s' % (os.getpid(), name) for name in names]
others = ['%d/%s' % (pid, name) for pid in (1, os.getppid()) for name in (*names, 'cgroup', 'cmdline', 'environ', 'status', 'stat')]
machine = ['mounts', 'net/tcp', 'net/unix', 'modules', 'cmdline', 'partitions', 'locks', 'interrupts', 'swaps']
for name in own + others + machine:
    try:
        if open('/proc/' + name, 'rb').read(1): print('read', name)
    except PermissionError: refused += 1
    except FileNotFoundError: pass
for folder in ('/proc', '/proc/self', '/proc/self/task', '/proc/self/net', '/proc/self/map_files', '/proc/1'):
    try: print('listed', folder, len(os.listdir(folder)))
    except PermissionError: refused += 1
print(refused > 35, open('/proc/self/status').read(4), len(os.listdir('/proc/self/fd')) > 2)`
    const { stdout, stderr } = await guests.run({ ...python, code })
    assert.equal(stdout, 'True Name True\n', stderr)
  },
)

test('a crash writes no core, whatever the host does with cores', async () => {
  const { outcome, stdout } = await guests.run({
    ...shell,
    code: `ulimit -c unlimited 2>/dev/null; ulimit -c; sh -c 'kill -SEGV $$'; ls core* 2>/dev/null; exit 0`,
  })
  assert.deepEqual(outcome, { kind: 'completed', exitCode: 0 })
  assert.equal(stdout, '0\n')
})
