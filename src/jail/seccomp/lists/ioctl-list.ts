/** The requests of ioctl, an unsigned int in the kernel: what terminals, pipes and sockets are asked by programs. */
import { allow, call } from './allow-list.ts'
import type { AllowList } from './allow-list.ts'

export const ioctl = call('ioctl', 16, 29)

const descriptors = allow([
  [0x541b, 'FIONREAD', 'Asks how much can be read.', 'glibc, Node, CPython, OpenJDK, git'],
  [0x5421, 'FIONBIO', 'Makes it non-blocking.', 'CPython, libuv, Rust, nginx'],
  [0x5450, 'FIONCLEX', 'Keeps it open at exec.', 'CPython'],
  [0x5451, 'FIOCLEX', 'Closes it at exec.', 'CPython, libuv, Rust'],
  [0x5452, 'FIOASYNC', 'Asks for SIGIO.', 'nginx'],
])

const files = allow([
  [0x40049409, 'FICLONE', 'Copies a whole file without its blocks.', 'cp, Node, Bun, CPython'],
  [0x4020940d, 'FICLONERANGE', 'Copies a part without its blocks.', 'cp, Rust'],
  [0x80086601, 'FS_IOC_GETFLAGS', 'Reads the flags of a file.', 'lsattr, tar, systemd'],
])

const terminals = allow([
  [0x5401, 'TCGETS', 'Reads the settings: isatty.', 'every program that writes'],
  [0x5402, 'TCSETS', 'Changes the settings.', 'shells, editors, readline'],
  [0x5403, 'TCSETSW', 'Changes them after what is written.', 'shells, editors, readline'],
  [0x5404, 'TCSETSF', 'Changes them and drops what was typed.', 'getpass, ncurses'],
  [0x5405, 'TCGETA', 'Reads the settings, as System V did.', 'older programs'],
  [0x5406, 'TCSETA', 'Changes them.', 'older programs'],
  [0x5407, 'TCSETAW', 'Changes them after what is written.', 'older programs'],
  [0x5408, 'TCSETAF', 'Changes them and drops what was typed.', 'older programs'],
  [0x5409, 'TCSBRK', 'Waits until all is written: tcdrain.', 'CPython’s termios'],
  [0x540a, 'TCXONC', 'Stops and goes on: tcflow.', 'CPython’s termios'],
  [0x540b, 'TCFLSH', 'Discards pending bytes: tcflush.', 'CPython’s termios, shells'],
  [0x540c, 'TIOCEXCL', 'Lets nobody else open it.', 'screen, terminal programs'],
  [0x540d, 'TIOCNXCL', 'Takes that back.', 'screen, terminal programs'],
  [0x540e, 'TIOCSCTTY', 'Makes it the controlling one.', 'the launcher, CPython’s pty, script, tmux'],
  [0x540f, 'TIOCGPGRP', 'Asks which group is in front.', 'bash, CPython'],
  [0x5410, 'TIOCSPGRP', 'Says which is.', 'bash, CPython'],
  [0x5411, 'TIOCOUTQ', 'Asks how much is not yet sent.', 'CPython’s tests, libuv, ssh'],
  [0x5413, 'TIOCGWINSZ', 'Asks how large it is.', 'Node, CPython, ls, git'],
  [0x5414, 'TIOCSWINSZ', 'Says how large it is.', 'the launcher, script, tmux, node-pty'],
  [0x5420, 'TIOCPKT', 'Makes a pty tell about its other side.', 'rlogin, screen, expect'],
  [0x5422, 'TIOCNOTTY', 'Gives the controlling one up.', 'daemons, CPython’s pty'],
  [0x5424, 'TIOCGETD', 'Asks for the line discipline.', 'stty, serial programs'],
  [0x5425, 'TCSBRKP', 'Sends a break: tcsendbreak.', 'CPython’s termios'],
  [0x5427, 'TIOCSBRK', 'Begins a break.', 'serial programs'],
  [0x5428, 'TIOCCBRK', 'Ends a break.', 'serial programs'],
  [0x5429, 'TIOCGSID', 'Asks for the session: tcgetsid.', 'CPython’s termios'],
  [0x802c542a, 'TCGETS2', 'Reads the settings with any speed.', 'glibc 2.42, Rust, Go'],
  [0x402c542b, 'TCSETS2', 'Changes them with any speed.', 'glibc 2.42, Rust, Go'],
  [0x402c542c, 'TCSETSW2', 'The same after what is written.', 'glibc 2.42, Rust, Go'],
  [0x402c542d, 'TCSETSF2', 'The same and drops what was typed.', 'glibc 2.42, Rust, Go'],
  [0x80045430, 'TIOCGPTN', 'Asks for the number of a pty: ptsname.', 'CPython’s pty, script, node-pty'],
  [0x40045431, 'TIOCSPTLCK', 'Unlocks a pty: unlockpt.', 'CPython’s pty, script, node-pty'],
  [0x80045432, 'TIOCGDEV', 'Asks which device it is.', 'systemd'],
  [0x80045438, 'TIOCGPKT', 'Asks whether TIOCPKT is on.', 'screen'],
  [0x80045439, 'TIOCGPTLCK', 'Asks whether a pty is locked.', 'screen'],
  [0x80045440, 'TIOCGEXCL', 'Asks whether TIOCEXCL is on.', 'screen'],
  [0x5441, 'TIOCGPTPEER', 'Opens the other side of a pty: openpty.', 'glibc, CPython’s pty, the launcher'],
])

/** Interfaces are asked by name; a name that is not there loads a module for administrators only (dev_load). */
const networks = allow([
  [0x8905, 'SIOCATMARK', 'Asks whether urgent data is next.', 'CPython, OpenJDK'],
  [0x8910, 'SIOCGIFNAME', 'Turns an index into a name.', 'if_indextoname of glibc and musl'],
  [0x8912, 'SIOCGIFCONF', 'Lists interfaces with addresses.', 'OpenJDK, Go, Erlang'],
  [0x8913, 'SIOCGIFFLAGS', 'Tells whether one is up.', 'OpenJDK, Erlang, ifconfig'],
  [0x8915, 'SIOCGIFADDR', 'Tells its address.', 'OpenJDK, Erlang, scripts of CPython'],
  [0x8917, 'SIOCGIFDSTADDR', 'Tells the other end.', 'Erlang, ifconfig'],
  [0x8919, 'SIOCGIFBRDADDR', 'Tells its broadcast address.', 'OpenJDK, Erlang'],
  [0x891b, 'SIOCGIFNETMASK', 'Tells its mask.', 'OpenJDK, Erlang'],
  [0x891d, 'SIOCGIFMETRIC', 'Tells its metric.', 'ifconfig'],
  [0x8921, 'SIOCGIFMTU', 'Tells its largest packet.', 'OpenJDK, Erlang, ifconfig'],
  [0x8927, 'SIOCGIFHWADDR', 'Tells its hardware address.', 'OpenJDK, uuid of CPython, Erlang'],
  [0x8933, 'SIOCGIFINDEX', 'Turns a name into an index.', 'if_nametoindex of glibc and musl'],
  [0x8942, 'SIOCGIFTXQLEN', 'Tells how long its queue is.', 'ifconfig'],
  [0x8970, 'SIOCGIFMAP', 'Tells where its device is.', 'ifconfig'],
])

export const ioctlList: AllowList = {
  calls: [ioctl],
  argument: 1,
  otherwise: 'ENOTTY',
  // By 32 bits, as the kernel takes it: 0x1_0000_5412 is TIOCSTI, too (CVE-2019-10063).
  reason:
    'Types into terminals (TIOCSTI, TIOCLINUX), loads modules (line disciplines, bridges, VLANs), and reaches every driver behind a descriptor.',
  allowed: [...descriptors, ...files, ...terminals, ...networks],
}
