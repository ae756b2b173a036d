/** Requests of ioctl, an unsigned int in the kernel: those that programs send to terminals, pipes and sockets. */
import { allow, call } from './allow-list.ts'
import type { AllowList } from './allow-list.ts'

export const ioctl = call('ioctl', 16, 29)

const descriptors = allow([
  [0x541b, 'FIONREAD', 'Returns the number of bytes that can be read.', 'glibc, Node, CPython, OpenJDK, git'],
  [0x5421, 'FIONBIO', 'Turns non-blocking mode on or off.', 'CPython, libuv, Rust, nginx'],
  [0x5450, 'FIONCLEX', 'Keeps the descriptor open at exec.', 'CPython'],
  [0x5451, 'FIOCLEX', 'Closes the descriptor at exec.', 'CPython, libuv, Rust'],
  [0x5452, 'FIOASYNC', 'Turns SIGIO on or off.', 'nginx'],
])

const files = allow([
  [0x40049409, 'FICLONE', 'Copies a whole file by sharing its blocks.', 'cp, Node, Bun, CPython'],
  [0x4020940d, 'FICLONERANGE', 'Copies part of a file by sharing its blocks.', 'cp, Rust'],
  [0x80086601, 'FS_IOC_GETFLAGS', 'Reads the flags of a file.', 'lsattr, tar, systemd'],
])

const terminals = allow([
  [0x5401, 'TCGETS', 'Reads the settings of a terminal: isatty.', 'every program that writes'],
  [0x5402, 'TCSETS', 'Changes the settings of a terminal.', 'shells, editors, readline'],
  [0x5403, 'TCSETSW', 'Changes them after pending output is sent.', 'shells, editors, readline'],
  [0x5404, 'TCSETSF', 'The same, and discards unread input.', 'getpass, ncurses'],
  [0x5405, 'TCGETA', 'Reads the settings in the format of System V.', 'older programs'],
  [0x5406, 'TCSETA', 'Changes the settings in the format of System V.', 'older programs'],
  [0x5407, 'TCSETAW', 'Changes them after pending output is sent.', 'older programs'],
  [0x5408, 'TCSETAF', 'The same, and discards unread input.', 'older programs'],
  [0x5409, 'TCSBRK', 'Waits until pending output is sent: tcdrain.', 'CPython’s termios'],
  [0x540a, 'TCXONC', 'Suspends and resumes input or output: tcflow.', 'CPython’s termios'],
  [0x540b, 'TCFLSH', 'Discards pending bytes: tcflush.', 'CPython’s termios, shells'],
  [0x540c, 'TIOCEXCL', 'Prevents others from opening the terminal.', 'screen, terminal programs'],
  [0x540d, 'TIOCNXCL', 'Cancels TIOCEXCL.', 'screen, terminal programs'],
  [
    0x540e,
    'TIOCSCTTY',
    'Makes the terminal the controlling terminal.',
    'the launcher, CPython’s pty, script, tmux',
  ],
  [0x540f, 'TIOCGPGRP', 'Returns the foreground process group.', 'bash, CPython'],
  [0x5410, 'TIOCSPGRP', 'Sets the foreground process group.', 'bash, CPython'],
  [0x5411, 'TIOCOUTQ', 'Returns the number of bytes not yet sent.', 'CPython’s tests, libuv, ssh'],
  [0x5413, 'TIOCGWINSZ', 'Returns the size of the window.', 'Node, CPython, ls, git'],
  [0x5414, 'TIOCSWINSZ', 'Sets the size of the window.', 'the launcher, script, tmux, node-pty'],
  [0x5420, 'TIOCPKT', 'Makes a pty report flow control of its other side.', 'rlogin, screen, expect'],
  [0x5422, 'TIOCNOTTY', 'Gives up the controlling terminal.', 'daemons, CPython’s pty'],
  [0x5424, 'TIOCGETD', 'Returns the line discipline.', 'stty, serial programs'],
  [0x5425, 'TCSBRKP', 'Sends a break: tcsendbreak.', 'CPython’s termios'],
  [0x5427, 'TIOCSBRK', 'Begins a break.', 'serial programs'],
  [0x5428, 'TIOCCBRK', 'Ends a break.', 'serial programs'],
  [0x5429, 'TIOCGSID', 'Returns the session: tcgetsid.', 'CPython’s termios'],
  [0x802c542a, 'TCGETS2', 'Reads the settings with any speed.', 'glibc 2.42, Rust, Go'],
  [0x402c542b, 'TCSETS2', 'Changes the settings with any speed.', 'glibc 2.42, Rust, Go'],
  [0x402c542c, 'TCSETSW2', 'Changes them after pending output is sent.', 'glibc 2.42, Rust, Go'],
  [0x402c542d, 'TCSETSF2', 'The same, and discards unread input.', 'glibc 2.42, Rust, Go'],
  [0x80045430, 'TIOCGPTN', 'Returns the number of a pty: ptsname.', 'CPython’s pty, script, node-pty'],
  [0x40045431, 'TIOCSPTLCK', 'Unlocks a pty: unlockpt.', 'CPython’s pty, script, node-pty'],
  [0x80045432, 'TIOCGDEV', 'Returns the device number of the terminal.', 'systemd'],
  [0x80045438, 'TIOCGPKT', 'Returns whether TIOCPKT is on.', 'screen'],
  [0x80045439, 'TIOCGPTLCK', 'Returns whether a pty is locked.', 'screen'],
  [0x80045440, 'TIOCGEXCL', 'Returns whether TIOCEXCL is on.', 'screen'],
  [0x5441, 'TIOCGPTPEER', 'Opens the other side of a pty: openpty.', 'glibc, CPython’s pty, the launcher'],
])

/** These requests name an interface. An unknown name loads a module only for administrators (dev_load). */
const networks = allow([
  [0x8905, 'SIOCATMARK', 'Returns whether urgent data is next.', 'CPython, OpenJDK'],
  [
    0x8910,
    'SIOCGIFNAME',
    'Turns the index of an interface into its name.',
    'if_indextoname of glibc and musl',
  ],
  [0x8912, 'SIOCGIFCONF', 'Lists interfaces with addresses.', 'OpenJDK, Go, Erlang'],
  [0x8913, 'SIOCGIFFLAGS', 'Returns the flags of an interface, such as up.', 'OpenJDK, Erlang, ifconfig'],
  [0x8915, 'SIOCGIFADDR', 'Returns its address.', 'OpenJDK, Erlang, scripts of CPython'],
  [0x8917, 'SIOCGIFDSTADDR', 'Returns the address of the other end.', 'Erlang, ifconfig'],
  [0x8919, 'SIOCGIFBRDADDR', 'Returns its broadcast address.', 'OpenJDK, Erlang'],
  [0x891b, 'SIOCGIFNETMASK', 'Returns its netmask.', 'OpenJDK, Erlang'],
  [0x891d, 'SIOCGIFMETRIC', 'Returns its metric.', 'ifconfig'],
  [0x8921, 'SIOCGIFMTU', 'Returns its MTU.', 'OpenJDK, Erlang, ifconfig'],
  [0x8927, 'SIOCGIFHWADDR', 'Returns its hardware address.', 'OpenJDK, uuid of CPython, Erlang'],
  [
    0x8933,
    'SIOCGIFINDEX',
    'Turns the name of an interface into its index.',
    'if_nametoindex of glibc and musl',
  ],
  [0x8942, 'SIOCGIFTXQLEN', 'Returns the length of its send queue.', 'ifconfig'],
  [0x8970, 'SIOCGIFMAP', 'Returns its hardware settings.', 'ifconfig'],
])

export const ioctlList: AllowList = {
  calls: [ioctl],
  argument: 1,
  otherwise: 'ENOTTY',
  // The kernel reads 32 bits: 0x1_0000_5412 is TIOCSTI too (CVE-2019-10063).
  reason:
    'Other requests type into terminals (TIOCSTI, TIOCLINUX), load modules (line disciplines, bridges, VLANs), or reach the driver behind a descriptor.',
  allowed: [...descriptors, ...files, ...terminals, ...networks],
}
