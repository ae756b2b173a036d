/**
 * What honest programs can do elsewhere but not in a cell: in Python, because it names errors and can make system
 * calls. `attempt(action)` prints what the action returns, or the error that it raises.
 */
import type { CompatibilityProgram } from './program.ts'

export const attempt = `
import ctypes, errno, os
libc = ctypes.CDLL(None, use_errno=True)
def attempt(action):
    try: print(action())
    except OSError as error: print(errno.errorcode.get(error.errno, error.errno))
def call(name, *arguments):
    result = getattr(libc, name)(*arguments)
    if result < 0: raise OSError(ctypes.get_errno(), name)
    return result
`

const uncountedMemory =
  'Without a cgroup nothing counts this memory, so a program could exceed a small limit by far.'

export const walls: readonly CompatibilityProgram[] = [
  {
    title: 'memory that is mapped without a file and shared with a child',
    code: `${attempt}
import mmap
def share():
    memory = mmap.mmap(-1, 4096)
    if os.fork() == 0:
        memory[:2] = b"hi"
        os._exit(0)
    os.wait()
    return memory[:2].decode()
attempt(share)`,
    prints: 'hi\n',
    differs: [
      {
        at: ['standard'],
        layer: 'seccomp',
        prints: 'EPERM\n',
        reason: uncountedMemory,
        instead: 'Map a file of `/dev/shm` or `/tmp`; or `multiprocessing.shared_memory`, `Value`, `Array`.',
      },
    ],
  },
  {
    title: '`memfd_create`',
    code: `${attempt}
attempt(lambda: os.write(os.memfd_create("scratch"), b"kept"))`,
    prints: '4\n',
    differs: [
      {
        at: ['standard'],
        layer: 'seccomp',
        prints: 'ENOSYS\n',
        reason: uncountedMemory,
        instead: 'A temporary file: `/tmp` is memory, too, and is counted.',
      },
    ],
  },
  {
    title: 'System V shared memory',
    code: `${attempt}
attempt(lambda: call("shmctl", call("shmget", 0, 4096, 0o1600), 0, None))`,
    prints: '0\n',
    differs: [
      {
        at: ['standard'],
        layer: 'seccomp',
        prints: 'ENOSYS\n',
        reason: uncountedMemory,
        instead: 'POSIX shared memory (`shm_open`), which is a file in `/dev/shm`.',
      },
    ],
  },
  {
    title: '`sendfile`, and `Bun.serve` with files of 1 MB and more, which needs `sendfile`',
    code: `${attempt}
import socket
open("sent", "w").write("over a socket")
near, far = socket.socketpair()
attempt(lambda: os.sendfile(near.fileno(), os.open("sent", os.O_RDONLY), 0, 100))`,
    prints: '13\n',
    differs: [
      {
        at: ['standard'],
        layer: 'seccomp',
        prints: 'EINVAL\n',
        reason:
          'A byte in a socket keeps a whole page of the file alive, which nothing counts without a cgroup.',
        instead:
          'Read and write, as Python, Node, Go and Java then do; in Bun `new Response(await file.bytes())`.',
      },
    ],
  },
  {
    title: 'a socket to another machine',
    outsideVaries: true,
    code: `${attempt}
import socket
attempt(lambda: socket.create_connection(("192.0.2.1", 80), timeout=1))`,
    prints: 'None\n',
    differs: [
      {
        layer: 'namespaces',
        prints: 'ENETUNREACH\n',
        reason: 'A cell has a loopback of its own and nothing else.',
        instead: "A host function that fetches what the program needs; or `network: 'host'`.",
      },
    ],
  },
  {
    title: 'protocols other than TCP, UDP and ICMP, such as UDP-Lite and SCTP',
    outsideVaries: true,
    code: `${attempt}
import socket
attempt(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM, 136))`,
    prints: 'a socket\n',
    differs: [
      {
        layer: 'seccomp',
        prints: 'EPROTONOSUPPORT\n',
        reason: 'Rarely used protocols load modules of the kernel with a history of holes.',
        instead: 'TCP or UDP.',
      },
    ],
  },
  {
    title: 'a user namespace: `unshare`, rootless containers, the sandbox of Chromium',
    outsideVaries: true,
    code: `${attempt}
attempt(lambda: call("unshare", 0x10000000))`,
    prints: '0\n',
    differs: [
      {
        layer: 'seccomp',
        prints: 'EPERM\n',
        reason: 'A user namespace opens most of the kernel to its owner.',
        instead: 'The program is already in a cell: start Chromium with `--no-sandbox`.',
      },
    ],
  },
  {
    title: 'io_uring',
    outsideVaries: true,
    code: `${attempt}
attempt(lambda: call("syscall", 425, 1, ctypes.create_string_buffer(120)))`,
    prints: 'a descriptor\n',
    differs: [
      {
        layer: 'seccomp',
        prints: 'ENOSYS\n',
        reason: 'Its queue runs system calls that filters do not see.',
        instead: 'Nothing: libraries fall back on epoll and threads.',
      },
    ],
  },
  {
    title: 'the limits of a process by its number, even its own: `prlimit --pid $$`',
    code: `${attempt}
import resource
print(len(resource.prlimit(0, resource.RLIMIT_CORE)))
attempt(lambda: len(resource.prlimit(os.getpid(), resource.RLIMIT_CORE)))`,
    prints: '2\n2\n',
    differs: [
      {
        layer: 'seccomp',
        prints: '2\nEPERM\n',
        reason: 'Limits set on pid 1 could end the cell.',
        instead: '`getrlimit`, `setrlimit`, `ulimit`, or `prlimit` with pid 0.',
      },
    ],
  },
  {
    title: 'a new file in a folder of the system',
    code: `${attempt}
attempt(lambda: open("/usr/lib/new", "w"))`,
    prints: 'EACCES\n',
    differs: [
      {
        layer: 'mounts',
        prints: 'EROFS\n',
        reason: 'The system is read-only; removing a missing file also gives EROFS instead of ENOENT.',
        instead: 'Write to `/workspace`, `/tmp` or `/dev/shm`; install into a folder of the workspace.',
      },
    ],
  },
  {
    title: 'more than 256 MiB in files',
    code: `${attempt}
import signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
attempt(lambda: open("large", "wb").truncate(300 << 20))`,
    prints: '314572800\n',
    differs: [
      {
        layer: 'rlimits',
        prints: 'EFBIG\n',
        reason:
          'The default of `diskBytes` in a run, for one file and for all of them together. A sandbox has 2 GiB.',
        instead: 'Ask for more: `limits: { diskBytes, memoryBytes }`; files are memory, so both count.',
      },
    ],
  },
  {
    title: 'more than 256 open files in one process',
    code: `${attempt}
attempt(lambda: len([open("/dev/null") for _ in range(300)]))`,
    prints: '300\n',
    differs: [
      {
        layer: 'rlimits',
        prints: 'EMFILE\n',
        reason:
          'The default of `openFilesMax` in a run. In a sandbox a process begins with 1,024 and may raise that.',
        instead: 'Ask for more: `limits: { openFilesMax }`.',
      },
    ],
  },
  {
    title: 'more than 64 processes and threads',
    code: `
import threading
done = threading.Event()
try:
    for _ in range(80): threading.Thread(target=done.wait).start()
    print("all run")
except RuntimeError: print("refused")
done.set()`,
    prints: 'all run\n',
    differs: [
      {
        at: ['standard'],
        layer: 'rlimits',
        prints: 'refused\n',
        reason: 'The default of `processesMax` in a run. A sandbox has 1,024.',
        instead: 'Ask for more: `limits: { processesMax }`.',
      },
      {
        layer: 'cgroup',
        prints: 'refused\n',
        reason: 'The default of `processesMax` in a run. A sandbox has 1,024.',
        instead: 'Ask for more: `limits: { processesMax }`.',
      },
    ],
  },
  {
    title: 'devices and cgroups in `/sys`',
    code: `${attempt}
attempt(lambda: len(os.listdir("/sys")) > 0)`,
    prints: 'True\n',
    differs: [
      {
        layer: 'mounts',
        prints: 'ENOENT\n',
        reason:
          '`/sys` describes the machine. Runtimes that look for their memory limit there find none. A sandbox has only a few of its files.',
        instead: 'Tell them: `-Xmx`, `GOMEMLIMIT`, `--max-old-space-size`.',
      },
    ],
  },
  {
    title: 'giving a file to another user',
    code: `${attempt}
open("mine", "w").close()
attempt(lambda: os.chown("mine", 54321, 54321))`,
    prints: 'EPERM\n',
    differs: [
      {
        at: ['strong', 'standard'],
        layer: 'namespaces',
        prints: 'EINVAL\n',
        reason: 'No other user exists in the namespace, so the kernel does not know the number.',
        instead: 'Nothing: it fails for every user but root; `tar` and `cp -p` ignore that silently.',
      },
    ],
  },
  {
    title: 'settings of the system in `/etc`',
    code: `${attempt}
attempt(lambda: len(open("/etc/services").read()) > 0)
attempt(lambda: len(open("/etc/profile").read()) > 0)`,
    prints: 'True\nTrue\n',
    differs: [
      {
        layer: 'mounts',
        prints: 'True\nENOENT\n',
        reason:
          'It identifies the machine and has keys. Users, names, services, certificates, fonts and files that installed programs need, and that are no secret, are there.',
        instead: 'Give the program its settings in `files` or `env`.',
      },
    ],
  },
  {
    title: 'seeing the processes of others',
    code: `
import os
numbers = [name for name in os.listdir("/proc") if name.isdigit()]
print("1" in numbers, len(numbers) <= 2)`,
    prints: 'True False\n',
    differs: [
      {
        layer: 'namespaces',
        prints: 'True True\n',
        reason: 'A cell has only its own processes, and Lazaret’s pid 1.',
        instead: 'Nothing: there is no other process to wait for or to signal.',
      },
    ],
  },
  {
    title: 'variables for the interpreter: `PYTHONBREAKPOINT` set while it runs, `SSLKEYLOGFILE`',
    code: `
import sys
print(sys.flags.isolated, sys.flags.ignore_environment)`,
    prints: '0 0\n',
    differs: [
      {
        layer: 'harness',
        prints: '1 1\n',
        reason: 'The interpreter starts isolated (`-I`).',
        instead:
          'Any variable that begins with `PYTHON` in the `env` of the request makes the interpreter start without `-I`.',
      },
    ],
  },
]
