/** Kernel memory that a process causes: unread bytes in pipes and sockets. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'

import { keepMemoryFlat } from '../../support/machine/resident-memory.ts'
import { ampleMs } from '../../support/patient-run.ts'
import { python, useLazaret } from '../../support/use-lazaret.ts'

const guests = await useLazaret()

const MiB = 1024 * 1024
const limits = { memoryBytes: 64 * MiB, processesMax: 16, wallMs: ampleMs }
const fork = `
import fcntl, os, socket, time
for _ in range(5):
    if os.fork() == 0: break
kept = []
def fill(end, size, most=1 << 30):
    end.setblocking(False)
    sent = 0
    try:
        while sent < most: sent += end.send(b'x' * size)
    except (BlockingIOError, ConnectionRefusedError): pass
`

const large = 'setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)'

const hoards = {
  'unix sockets': `
while len(kept) < 100:
    pair = socket.socketpair()
    for end in pair:
        end.${large}
        fill(end, 32768)
    kept.append(pair)`,
  'unix sockets whose senders are gone': `
while len(kept) < 200:
    sender, receiver = socket.socketpair()
    sender.${large}
    fill(sender, 32768)
    sender.close()
    kept.append(receiver)`,
  'unix sockets, in messages of one byte whose senders are gone': `
while len(kept) < 200:
    sender, receiver = socket.socketpair(type=socket.SOCK_SEQPACKET)
    sender.${large}
    fill(sender, 1)
    sender.close()
    kept.append(receiver)`,
  'unix datagrams whose senders are gone': `
while len(kept) < 200:
    receiver = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    receiver.bind('')
    for size in [1] + [150000] * 10:
        sender = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        sender.connect(receiver.getsockname())
        fill(sender, size, size)
        sender.close()
    kept.append(receiver)`,
  'unix sockets that lie in another socket': `
while len(kept) < 40:
    box = socket.socketpair()
    for _ in range(4):
        pair = socket.socketpair()
        for end in pair:
            end.${large}
            fill(end, 32768)
        socket.send_fds(box[0], [b'x'], [end.fileno() for end in pair])
        for end in pair: end.close()
    kept.append(box)`,
  'TCP connections': `
server = socket.create_server(('127.0.0.1', 0))
while len(kept) < 100:
    near = socket.create_connection(server.getsockname())
    far = server.accept()[0]
    for end in (near, far): fill(end, 1 << 20)
    kept.append((near, far))`,
  'TCP connections over IPv6': `
server = socket.create_server(('::1', 0), family=socket.AF_INET6)
while len(kept) < 100:
    near = socket.create_connection(server.getsockname()[:2])
    far = server.accept()[0]
    for end in (near, far): fill(end, 1 << 20)
    kept.append((near, far))`,
  'UDP sockets': `
while len(kept) < 200:
    receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    receiver.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
    receiver.bind(('127.0.0.1', 0))
    receiver.connect(receiver.getsockname())
    fill(receiver, 60000, 1 << 22)
    kept.append(receiver)`,
  'netlink sockets': `
import struct
while len(kept) < 200:
    end = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
    end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
    end.setblocking(False)
    request = struct.pack('=IHHII', 16384, 9999, 5, 1, 0) + bytes(16384 - 16)
    try:
        for _ in range(300): end.send(request)
    except OSError: pass
    kept.append(end)`,
}

/** Without namespaces the only sockets are connected pairs of Unix sockets. */
const hasSockets = guests.level !== 'restricted'
const others = /datagrams|TCP|UDP|netlink/
const areCounted = hasSockets || guests.heldByCgroup
const pairs = Object.entries(hoards).filter(([name]) => !others.test(name))

if (!hasSockets) {
  for (const [name, code] of Object.entries(hoards).filter(([family]) => others.test(family))) {
    test(`guests that have no ${name} cannot keep unread bytes in them`, async () => {
      const { outcome } = await guests.run({ ...python, code: fork + code, limits })
      assert.equal(outcome.kind, 'failed')
      assert.match(outcome.kind === 'failed' ? outcome.error.message : '', /Address family not supported/)
    })
  }
}

if (!areCounted) {
  // On the host's network the kernel lists everybody's sockets, and no cgroup counts: only limits on descriptors and
  // processes, and the size of a send buffer, bound the unread bytes.
  for (const [name, code] of pairs) {
    test(`unread bytes in ${name} are not counted without a network namespace and a cgroup`, async () => {
      const { outcome } = await guests.run({ ...python, code: `${fork}${code}\nos._exit(0)`, limits })
      if (name.includes('another socket')) {
        assert.equal(outcome.kind, 'failed')
        assert.match(outcome.kind === 'failed' ? outcome.error.message : '', /Too many references/)
      } else assert.deepEqual(outcome, { kind: 'completed', exitCode: 0 })
    })
  }
}

const counted = hasSockets ? Object.entries(hoards) : areCounted ? pairs : []

for (const [name, code] of counted) {
  test(`unread bytes in ${name} count as memory: out-of-memory`, async () => {
    const { outcome } = await keepMemoryFlat(() =>
      guests.run({ ...python, code: `${fork}${code}\ntime.sleep(1.5)\nwhile True: os.wait()`, limits }),
    )
    assert.deepEqual(outcome, { kind: 'out-of-memory', limitBytes: limits.memoryBytes })
  })
}

/** 100 pairs hold some 80 MiB: within the memory limit, but more than one cell may have of the machine's budget. */
const tcpOfTheMachine = `
import socket, time
server = socket.create_server(('127.0.0.1', 0))
kept = []
for _ in range(100):
    near = socket.create_connection(server.getsockname())
    far = server.accept()[0]
    for end in (near, far):
        end.setblocking(False)
        try:
            while True: end.send(b'x' * (1 << 20))
        except BlockingIOError: pass
    kept.append((near, far))
time.sleep(1)
print('kept', flush=True)`

test('unread bytes in TCP sockets are a small part of the machine’s budget, whatever memory a run has', async () => {
  const limitBytes = 1024 * MiB
  const { outcome, stdout } = await guests.run({
    ...python,
    code: tcpOfTheMachine,
    limits: { memoryBytes: limitBytes, wallMs: ampleMs },
  })
  if (!hasSockets) assert.equal(outcome.kind, 'failed')
  else assert.deepEqual([outcome, stdout], [{ kind: 'out-of-memory', limitBytes }, ''])
})

const fillPipes = `${fork}
held = pipes = 0
while pipes < 100:
    kept.append(os.pipe())
    reader, writer = kept[-1]
    try: fcntl.fcntl(writer, 1031, 1 << 20)
    except OSError: pass
    os.set_blocking(writer, False)
    try:
        while True: held += os.write(writer, b'x' * 65536)
    except BlockingIOError: pass
    pipes += 1
print(held, pipes, flush=True)
time.sleep(1.5)
try:
    while True: os.wait()
except ChildProcessError: pass
os._exit(0)`
/** If no cgroup charges pipes, the kernel bounds them per user of the host: 16,384 pages, then two for each pipe. */
const pipePages = Number(readFileSync('/proc/sys/fs/pipe-user-pages-soft', 'utf8'))
const pipePagesOf = (pipes: number) => pipePages + 2 * pipes

test('unread bytes in pipes count as memory with a cgroup, and are bounded by the kernel without one', async () => {
  const { outcome, stdout } = await keepMemoryFlat(() => guests.run({ ...python, code: fillPipes, limits }))
  if (guests.heldByCgroup) {
    assert.deepEqual(outcome, { kind: 'out-of-memory', limitBytes: limits.memoryBytes })
    return
  }
  const rows = stdout
    .trim()
    .split('\n')
    .map((line) => line.split(' ').map(Number))
  const [held = 0, pipes = 0] = [0, 1].map((at) => rows.reduce((sum, row) => sum + (row[at] ?? 0), 0))
  assert.equal(pipes, 600)
  assert.ok(pipePages > 0 && held <= 4096 * pipePagesOf(pipes), `${held} bytes in ${pipes} pipes`)
})

test('send buffers have the size that estimates assume, and children that ended quickly are not counted as hoarding', async () => {
  const code = `
import os, socket, time
end = socket.socketpair()[0]
before = end.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF)
end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, before * 4)
kept = []
for _ in range(100):
    sender, receiver = socket.socketpair()
    sender.sendall(b'x' * 65536)
    sender.close()
    kept.append(receiver)
time.sleep(0.3)
print(end.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF) == before)`
  const { outcome, stdout } = await guests.run({ ...python, code, limits: { memoryBytes: 256 * MiB } })
  assert.deepEqual(outcome, { kind: 'completed', exitCode: 0 })
  assert.equal(stdout, 'True\n')
})

/** An unread byte in a socket keeps the file's page that it was sent from, even after the file is truncated. */
const cutFiles = `
import errno, os, socket
kept = []
pages = 0
def send(end):
    file = os.open('cut', os.O_RDWR | os.O_CREAT)
    try:
        os.write(file, bytes(4096))
        return os.sendfile(end.fileno(), file, 0, 1)
    finally:
        os.ftruncate(file, 0) # at its next start, ext4 would write the page to the disk first
        os.close(file)
try:
    while pages < 30_000:
        kept.append(socket.socketpair())
        kept[-1][0].setblocking(False)
        try:
            while True: pages += send(kept[-1][0])
        except BlockingIOError: pass
    print(pages)
except OSError as error: print(errno.errorcode[error.errno])`

test('pages of truncated files that sockets keep count as memory with a cgroup, and cannot be kept without one', async () => {
  const { outcome, stdout } = await guests.run({ ...python, code: cutFiles, limits })
  if (guests.heldByCgroup)
    assert.deepEqual(outcome, { kind: 'out-of-memory', limitBytes: limits.memoryBytes })
  else assert.deepEqual([outcome.kind, stdout], ['completed', 'EINVAL\n'])
})

/** One byte of a TCP segment in a pipe kept all its 32 KiB alive, which no cgroup is charged for. */
const moves = {
  splice: '_libc.splice(far.fileno(), None, writer, None, ctypes.c_size_t(1), 0)',
  sendfile: '_libc.sendfile(writer, far.fileno(), None, ctypes.c_size_t(1))',
  'sendfile with an offset':
    '_libc.sendfile(writer, far.fileno(), ctypes.byref(ctypes.c_long(0)), ctypes.c_size_t(1))',
}

const connect = hasSockets
  ? `server = socket.create_server(('127.0.0.1', 0))
near = socket.create_connection(server.getsockname())
far = server.accept()[0]`
  : 'near, far = socket.socketpair()'

for (const [name, move] of Object.entries(moves)) {
  test(`${name} puts no buffer of a socket into a pipe`, async () => {
    const code = `
import ctypes, errno, os, socket
_libc = ctypes.CDLL(None, use_errno=True)
${connect}
near.sendall(b'x' * 32768)
writer = os.pipe()[1]
print(${move}, errno.errorcode[ctypes.get_errno()])`
    assert.match((await guests.run({ ...python, code })).stdout, /^-1 (EINVAL|ESPIPE)\n$/)
  })
}

const landlockRules = `
import ctypes, errno, os, struct
syscall = ctypes.CDLL(None, use_errno=True).syscall
bind_and_connect = struct.pack('QQ', 0, 3)
children = []
for _ in range(2):
    child = os.fork()
    children = children + [child] if child else []
while True:
    rules = syscall(444, bind_and_connect, ctypes.c_size_t(16), 0)
    if rules < 0: break
    for port in range(65536): syscall(445, rules, 2, struct.pack('QQ', 1, port), 0)
print(errno.errorcode[ctypes.get_errno()], flush=True)
for child in children: os.waitpid(child, 0) # the run ends with its first process`
const noPorts =
  guests.landlockAbi >= 4 ? false : `Landlock ABI ${guests.landlockAbi} has no rules without a file`

test(
  'rules of Landlock count as memory with a cgroup, and cannot be created without one',
  { skip: noPorts },
  async () => {
    const tight = { ...limits, memoryBytes: 48 * MiB, wallMs: ampleMs }
    const { outcome, stdout } = await guests.run({ ...python, code: landlockRules, limits: tight })
    if (guests.heldByCgroup) assert.deepEqual(outcome, { kind: 'out-of-memory', limitBytes: 48 * MiB })
    else assert.deepEqual([outcome.kind, stdout], ['completed', 'ENOSYS\n'.repeat(4)])
  },
)

/** Each instance keeps 16,384 events of 512 bytes: 8 MiB. A user may have 128 instances, a fork 4. */
const events = `
import ctypes, errno, os, time
libc = ctypes.CDLL(None, use_errno=True)
os.mkdir('watched')
instances = []
while (instance := libc.inotify_init()) >= 0:
    instances.append(libc.inotify_add_watch(instance, b'watched', 0xc0)) # IN_MOVED_FROM, IN_MOVED_TO
print(len(instances), errno.errorcode[ctypes.get_errno()], flush=True)
names = [f'watched/{letter * 250}' for letter in 'ab']
open(names[0], 'w').close()
for count in range(8200): os.rename(names[count % 2], names[1 - count % 2])`

test('unread events count as memory with a cgroup, and are few without one', async () => {
  const tight = guests.heldByCgroup ? { ...limits, memoryBytes: 32 * MiB } : limits
  const { outcome, stdout } = await guests.run({ ...python, code: events, limits: tight })
  if (guests.level === 'restricted') assert.equal(stdout, '0 ENOSYS\n')
  else if (guests.heldByCgroup)
    assert.deepEqual(outcome, { kind: 'out-of-memory', limitBytes: tight.memoryBytes })
  else assert.deepEqual([outcome.kind, stdout], ['completed', '16 EMFILE\n'])
})

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
