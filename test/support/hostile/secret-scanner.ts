/**
 * Python of both sides of an attack on secrets: a command that keeps one wherever a careless program may put it, and a
 * scanner in the user space that searches all places that it knows of. The scanner knows the form of a secret, but not
 * its letters, so it never finds itself.
 */
import { randomBytes } from 'node:crypto'

export function inventSecret(): string {
  return `lazaret:${randomBytes(16).toString('hex')}:end`
}

/** Puts `$SECRET` into 25 places, prints `ready`, and waits until /workspace/over exists. */
export const holdSecret = `
import ctypes, fcntl, mmap, os, pty, socket, subprocess, sys, threading, time
secret = os.environ['SECRET']
raw = secret.encode()
kept = []
def place(path): 
    file = open(path, 'wb+', 0); file.write(raw); kept.append(file); return file
for folder in ('/tmp', '/dev/shm', os.environ['HOME']): place(folder + '/' + secret)
for name in ('.bash_history', '.netrc', '.aws-credentials'): place(os.environ['HOME'] + '/' + name)
deleted = place('/tmp/deleted'); os.unlink('/tmp/deleted')
fcntl.flock(deleted, fcntl.LOCK_EX)
mapped = mmap.mmap(-1, 4096, mmap.MAP_PRIVATE); mapped.write(raw)
libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p
shm = libc.shmget(0x5ec7, 4096, 0o1666)
if shm >= 0: ctypes.memmove(libc.shmat(shm, None, 0), raw, len(raw))
queue = libc.msgget(0x5ec7, 0o1666)
if queue >= 0: libc.msgsnd(queue, ctypes.create_string_buffer(b'\\1' + bytes(7) + raw), len(raw), 0)
libc.semget(0x5ec7, 1, 0o1666)
flags = os.O_CREAT | os.O_RDWR
posix = libc.mq_open(b'/lazaret', flags, 0o666, None)
if posix >= 0: libc.mq_send(posix, raw, len(raw), 0)
for name in ('\\0lazaret-test', '/tmp/lazaret-test.sock', '\\0' + secret):
    server = socket.socket(socket.AF_UNIX); server.bind(name); server.listen(); kept.append(server)
tcp = socket.create_server(('127.0.0.1', 5867)); kept.append(tcp)
def serve(server):
    while True:
        client, _ = server.accept(); client.sendall(raw); client.close()
for server in kept[-4:]: threading.Thread(target=serve, args=(server,), daemon=True).start()
pipe = os.pipe(); os.write(pipe[1], raw)
main, side = pty.openpty(); os.write(side, raw)
ctypes.CDLL(None).prctl(15, raw[:15], 0, 0, 0)
child = subprocess.Popen([secret, '60'], executable='/bin/sleep', env={'CHILD': secret})
try: os.set_inheritable(os.memfd_create(secret), True)
except OSError: pass
crash = subprocess.run(['/bin/sh', '-c', 'kill -SEGV $$'], env={'CRASH': secret}, cwd='/workspace')
print('ready', flush=True)
while not os.path.exists('/workspace/over'): time.sleep(0.01)
child.kill()
`

/** Prints what it has found and how many places it has searched: `{"found": […], "looked": …}`. */
const looking = `
import ctypes, json, os, re, socket, sys, time
pattern = re.compile(b'laz' + b'aret:[0-9a-f]{32}:' + b'end')
libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p
found, looked = set(), 0
def see(where, data):
    global looked
    looked += 1
    if pattern.search(data): found.add(where)
def see_file(path, most=1 << 20):
    try: fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
    except OSError: return
    try: see(path, os.read(fd, most))
    except OSError: pass
    finally: os.close(fd)
def see_link(path):
    try: see(path, os.fsencode(os.readlink(path)))
    except OSError: pass
def see_folder(path, deep=True):
    for root, folders, names in os.walk(path):
        see('names in ' + root, '\\n'.join(names + folders).encode('utf8', 'surrogateescape'))
        for name in names: see_file(os.path.join(root, name))
        if not deep: return
process_files = ('environ', 'cmdline', 'comm', 'maps', 'smaps', 'numa_maps', 'auxv', 'stack', 'stat', 'status', 'wchan', 'syscall', 'mountinfo', 'limits', 'cgroup', 'sched', 'io', 'personality', 'timers', 'oom_score', 'attr/current')
def see_process(pid):
    base = '/proc/%s/' % pid
    for name in process_files: see_file(base + name)
    for name in ('exe', 'cwd', 'root'): see_link(base + name)
    try: threads = os.listdir(base + 'task')
    except OSError: threads = []
    for thread in threads:
        for name in ('environ', 'cmdline', 'comm'): see_file('%stask/%s/%s' % (base, thread, name))
    try: fds = os.listdir(base + 'fd')
    except OSError: fds = []
    for fd in fds:
        see_link(base + 'fd/' + fd)
        see_file(base + 'fdinfo/' + fd)
        if int(pid) != os.getpid(): see_file(base + 'fd/' + fd)
    for folder in ('root/tmp', 'root/dev/shm', 'root/run'): see_folder(base + folder)
    see_folder(base + 'cwd', False)
def see_memory(pid):
    try: maps, memory = open('/proc/%s/maps' % pid).read(), open('/proc/%s/mem' % pid, 'rb', 0)
    except OSError: return
    for line in maps.splitlines():
        ends, rights = line.split()[:2]
        start, end = (int(word, 16) for word in ends.split('-'))
        if 'r' not in rights or end - start > 1 << 24 or start > 1 << 47: continue
        try: memory.seek(start); see('memory of %s' % pid, memory.read(end - start))
        except OSError: pass
def see_ipc():
    for name in ('shm', 'msg', 'sem'): see_file('/proc/sysvipc/' + name)
    for number in range(0, 64):
        address = libc.shmat(number, None, 0o10000)
        if address not in (None, ctypes.c_void_p(-1).value): see('shm %d' % number, ctypes.string_at(address, 64))
        buffer = ctypes.create_string_buffer(256)
        if libc.msgrcv(number, buffer, 200, 0, 0o4000) >= 0: see('msg %d' % number, buffer.raw)
    for key in (0x5ec7,):
        for get in (lambda: libc.shmget(key, 0, 0), lambda: libc.msgget(key, 0), lambda: libc.semget(key, 0, 0)):
            if get() >= 0: found.add('an object of System V')
    if libc.mq_open(b'/lazaret', os.O_RDONLY | os.O_NONBLOCK) >= 0: found.add('a message queue')
def see_sockets():
    for name in ('unix', 'tcp', 'tcp6', 'udp', 'netlink', 'packet', 'raw'): see_file('/proc/net/' + name)
    for name in ('\\0lazaret-test', '/tmp/lazaret-test.sock', ('127.0.0.1', 5867)):
        client = socket.socket(socket.AF_UNIX if isinstance(name, str) else socket.AF_INET)
        client.settimeout(0.2)
        try: client.connect(name); see('socket %r' % (name,), client.recv(100)); found.add('socket %r' % (name,))
        except OSError: pass
        client.close()
def see_kernel():
    for name in ('locks', 'keys', 'key-users', 'mounts', 'timer_list', 'kmsg', 'cmdline', 'kcore', 'swaps', 'vmallocinfo', 'slabinfo'): see_file('/proc/' + name)
    buffer = ctypes.create_string_buffer(4096)
    for ring in range(-5, 0):
        if libc.syscall(NUMBER_OF_KEYCTL, 11, ring, buffer, 4096, 0) > 0: see('keyring', buffer.raw)
    for number in range(16): see_file('/dev/pts/%d' % number)
def trace(pids):
    for pid in pids:
        if libc.ptrace(16, pid, 0, 0) == 0: found.add('traced %d' % pid)
        if libc.syscall(NUMBER_OF_PIDFD_OPEN, pid, 0) >= 0 and not os.path.exists('/proc/%d' % pid): found.add('hidden %d' % pid)
def list_pids(): return [name for name in os.listdir('/proc') if name.isdigit()]
def see_everything(far=True):
    for pid in list_pids() if not far else sorted({*list_pids(), *map(str, range(1, 400))}, key=int):
        see_process(pid)
        if int(pid) != os.getpid(): see_memory(pid)
    for folder in ('/tmp', '/dev/shm', '/dev/mqueue', '/dev/pts', '/run', '/etc', '/workspace'): see_folder(folder)
    # Toolchains of the host may lie further down, read-only, with thousands of files.
    for folder in ('/', '/var', '/home', '/root', '/opt'): see_folder(folder, False)
    see_ipc(); see_sockets(); see_kernel()
    trace(range(2, 400) if far else ())
def watch(path):
    fd = libc.inotify_init1(0o4000)
    libc.inotify_add_watch(fd, path, 0xfff)
    return fd
def see_watch(fd):
    try:
        while True: see('names of events', os.read(fd, 65536))
    except OSError: pass
`

const numbers = process.arch === 'arm64' ? { keyctl: 219 } : { keyctl: 250 }
const scanner = looking
  .replace('NUMBER_OF_KEYCTL', String(numbers.keyctl))
  .replaceAll('NUMBER_OF_PIDFD_OPEN', '434')

const report = `print(json.dumps({'found': sorted(found), 'looked': looked}))`

/** Searches everything once. */
export const scanOnce = `${scanner}
see_everything()
${report}`

/** Searches what changes when commands start and end, without a pause, until /workspace/enough exists. */
export const scanOnAndOn = `${scanner}
events = [watch(path) for path in (b'/workspace', b'/tmp', b'/dev/shm', b'/dev/pts', b'/run')]
print('ready', flush=True)
while not os.path.exists('/workspace/enough'):
    see_everything(False)
    for fd in events: see_watch(fd)
${report}`

export interface ScanReport {
  readonly found: readonly string[]
  readonly looked: number
}
