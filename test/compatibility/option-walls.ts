/** Walls in front of options and flags: calls that succeed in a cell, but not with every value. */
import type { CompatibilityProgram } from './program.ts'
import { attempt } from './walls.ts'

export const optionWalls: readonly CompatibilityProgram[] = [
  {
    title: 'a program’s own filter for system calls: libseccomp, man',
    code: `${attempt}
import struct
allow = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0x7fff0000))
program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", 1, ctypes.addressof(allow)))
libc.prctl(38, 1, 0, 0, 0)
attempt(lambda: call("prctl", 22, 2, program, 0, 0))`,
    prints: '0\n',
    differs: [
      {
        layer: 'seccomp',
        prints: 'EINVAL\n',
        reason: 'Compiled filters use up one budget of the whole machine, which is charged to nobody.',
        instead: 'Nothing: programs that filter themselves run without it, as on a kernel without filters.',
      },
    ],
  },
  {
    title: 'watching who reads a folder: `inotifywait` without `-e`, `watchdog` with its own mask',
    code: `${attempt}
attempt(lambda: call("inotify_add_watch", call("inotify_init"), b".", 0xfff))`,
    prints: '1\n',
    differs: [
      {
        layer: 'seccomp',
        prints: 'EPERM\n',
        reason: 'Watches for opens and reads reveal what others do in shared folders.',
        instead:
          'Watch changes, as Node, Bun and Java do: `inotifywait -e modify,create,delete`, `event_filter` of watchdog.',
      },
    ],
  },
  {
    title: 'urgent data: `MSG_OOB`, `ftplib.FTP.abort`, `sendUrgentData` of Java',
    code: `${attempt}
import socket
server = socket.create_server(("127.0.0.1", 0))
client = socket.create_connection(server.getsockname())
attempt(lambda: client.send(b"x", socket.MSG_OOB))`,
    prints: '1\n',
    differs: [
      {
        layer: 'seccomp',
        prints: 'ENOTSUP\n',
        reason:
          'A filter cannot distinguish sockets, and urgent data on Unix sockets was a way into the kernel.',
        instead: 'Send it as data.',
      },
    ],
  },
  {
    title: 'joining a multicast group',
    code: `${attempt}
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
group = socket.inet_aton("224.1.2.3") + socket.inet_aton("127.0.0.1")
attempt(lambda: s.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, group))`,
    prints: 'None\n',
    outsideVaries: true,
    differs: [
      {
        layer: 'seccomp',
        prints: 'ENOPROTOOPT\n',
        reason: 'Each group takes kernel memory that is charged to nobody.',
        instead: 'Send to one address; there is no other machine to receive it.',
      },
    ],
  },
]
