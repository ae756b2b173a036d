/**
 * Calls that programs need, refused for some of their arguments. Several rules for one call are tried in order, and
 * the first that matches answers. Numbers are those of the kernel's headers, the same on both architectures.
 */
import type { SyscallRule } from './syscall-rule.ts'

const clone = { name: 'clone', numbers: { x64: 56, arm64: 220 } }
const ioctl = { name: 'ioctl', numbers: { x64: 16, arm64: 29 } }
export const socket = { name: 'socket', numbers: { x64: 41, arm64: 198 } }
export const socketpair = { name: 'socketpair', numbers: { x64: 53, arm64: 199 } }
const prlimit64 = { name: 'prlimit64', numbers: { x64: 302, arm64: 261 } }
const setrlimit = { name: 'setrlimit', numbers: { x64: 160, arm64: 164 } }
const personality = { name: 'personality', numbers: { x64: 135, arm64: 92 } }
const seccomp = { name: 'seccomp', numbers: { x64: 317, arm64: 277 } }

// CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. CLONE_NEWTIME (0x80) is not among them: in clone
// that bit belongs to the exit signal, and only unshare and clone3, both refused, read it as a namespace.
const cloneNewAnything =
  0x00020000 | 0x02000000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000 | 0x40000000

// CLONE_PARENT: the new process is a child of its maker's parent.
const cloneParent = 0x00008000

// CLONE_THREAD: the new task shares the process, as every pthread does.
const cloneThread = 0x00010000

const terminal = { typeInput: 0x5412, linuxConsole: 0x541c, lineDiscipline: 0x5423 } // TIOCSTI, TIOCLINUX, TIOCSETD
export const family = { unix: 1, inet: 2, inet6: 10, netlink: 16 }
/** The bits above the mask are SOCK_CLOEXEC and SOCK_NONBLOCK. */
export const socketType = { mask: 0xf, stream: 1, datagram: 2, sequenced: 5 }
const protocol = { fromType: 0, icmp: 1, tcp: 6, udp: 17, icmp6: 58 }

const rlimitCore = 4
const coreReason =
  'At 0 instead of our 1 the kernel pipes a crash to the host’s handler of cores, which is root outside the cell.'

const internet = { argument: 0, isOneOf: [family.inet, family.inet6] }

const prctl = { name: 'prctl', numbers: { x64: 157, arm64: 167 } }
const setChildSubreaper = 36

/** In a sandbox, where a command that has to end takes all with it that it has started, and nothing else. */
export const adoptionRules: readonly SyscallRule[] = [
  {
    ...prctl,
    action: 'EPERM',
    tests: [
      { argument: 0, isOneOf: [setChildSubreaper] },
      { argument: 1, isOneOf: [0] },
    ],
    reason: 'What a command starts stays below it until the command ends, so that a timeout ends all of it.',
  },
  {
    ...clone,
    action: 'EPERM',
    tests: [{ argument: 0, mask: cloneParent, isNoneOf: [0] }],
    reason: 'Beside the command instead of below it, a process outlives the command’s timeout.',
  },
]

export const argumentRules: readonly SyscallRule[] = [
  {
    ...clone,
    action: 'EPERM',
    tests: [{ argument: 0, mask: cloneNewAnything, isNoneOf: [0] }],
    reason: 'A new namespace, above all a user namespace, opens most of the kernel to its owner.',
  },
  {
    ...ioctl,
    action: 'EPERM',
    tests: [{ argument: 1, isOneOf: [terminal.typeInput, terminal.linuxConsole] }],
    reason: 'Types into a terminal as if its user did; compared by 32 bits (CVE-2019-10063).',
  },
  {
    ...ioctl,
    action: 'EPERM',
    tests: [{ argument: 1, isOneOf: [terminal.lineDiscipline] }],
    reason: 'Line disciplines for modems load kernel modules on any pty, and n_gsm made many people root.',
  },
  {
    ...socket,
    action: 'EAFNOSUPPORT',
    tests: [{ argument: 0, isNoneOf: Object.values(family) }],
    reason: 'Other families load rarely used modules, and AF_VSOCK talks to the hypervisor.',
  },
  {
    ...socket,
    action: 'EAFNOSUPPORT',
    tests: [
      { argument: 0, isOneOf: [family.netlink] },
      { argument: 2, isNoneOf: [0] }, // NETLINK_ROUTE: what getifaddrs and name resolution ask.
    ],
    reason: 'Netlink beyond routes is firewall, audit, devices and generic: code for administrators.',
  },
  {
    ...socket,
    action: 'EPERM',
    tests: [
      internet,
      { argument: 1, mask: socketType.mask, isNoneOf: [socketType.stream, socketType.datagram] },
    ],
    // SOCK_RAW needs a capability anyway, and EPERM is what the kernel says. The kernel turns SOCK_PACKET into
    // AF_PACKET, behind the back of the first rule. The rest is SCTP and DCCP.
    reason: 'Raw packets, and types that load rarely used protocols.',
  },
  {
    ...socket,
    action: 'EPROTONOSUPPORT',
    tests: [internet, { argument: 2, isNoneOf: Object.values(protocol) }],
    reason: 'Protocols such as SCTP, L2TP and SMC load modules with a history; Go falls back from MPTCP.',
  },
  {
    ...socketpair,
    action: 'EAFNOSUPPORT',
    tests: [{ argument: 0, isNoneOf: [family.unix] }],
    reason: 'Only AF_UNIX makes pairs that programs use; any other family would get its module loaded first.',
  },
  {
    ...prlimit64,
    action: 'EPERM',
    tests: [{ argument: 0, isNoneOf: [0] }],
    reason: 'Where guest and pid 1 share a uid, a limit of one CPU second set on pid 1 ends the cell.',
  },
  {
    name: 'sendfile',
    numbers: { x64: 40, arm64: 71 },
    action: 'EINVAL',
    // A null pointer, both halves of it. From a file with a place to start at, servers and copiers send as ever.
    tests: [
      { argument: 2, isOneOf: [0] },
      { argument: 2, half: 'high', isOneOf: [0] },
    ],
    reason: 'From a socket, which has no places, into a pipe it is splice by another name.',
  },
  {
    ...setrlimit,
    action: 'IGNORED',
    tests: [{ argument: 0, isOneOf: [rlimitCore] }],
    reason: coreReason,
  },
  // Reading the limit, with no pointer to a new one, is left alone.
  ...(['low', 'high'] as const).map((half): SyscallRule => ({
    ...prlimit64,
    action: 'IGNORED',
    tests: [
      { argument: 1, isOneOf: [rlimitCore] },
      { argument: 2, isNoneOf: [0], ...(half === 'high' ? { half } : {}) },
    ],
    reason: coreReason,
  })),
  {
    name: 'fcntl',
    numbers: { x64: 72, arm64: 25 },
    action: 'EPERM',
    tests: [{ argument: 1, isOneOf: [1024] }], // F_SETLEASE; reading is enough for one, so a read-only mount is no help.
    reason: 'Where the guest owns a file that it is shown, whoever opens it to write waits 45 seconds.',
  },
  {
    ...personality,
    action: 'EPERM',
    // PER_LINUX changes nothing and 0xffffffff only asks: setarch, gdb and configure scripts do both.
    tests: [{ argument: 0, isNoneOf: [0, 0xffffffff] }],
    reason: 'Turns off address randomization, maps page zero, and wakes code for long dead Unixes.',
  },
  {
    ...seccomp,
    action: 'EPERM',
    tests: [{ argument: 1, mask: 0x8, isOneOf: [0x8] }], // SECCOMP_FILTER_FLAG_NEW_LISTENER
    reason:
      'A filter of the guest’s own only tightens, but a listener lets one process answer calls for another.',
  },
]

/** For a run that may not start processes. execve stays: the launcher itself needs it once, after the filter. */
export const noSpawnRules: readonly SyscallRule[] = [
  {
    name: 'fork',
    numbers: { x64: 57, arm64: undefined },
    action: 'EPERM',
    reason: 'This run may not start processes.',
  },
  {
    name: 'vfork',
    numbers: { x64: 58, arm64: undefined },
    action: 'EPERM',
    reason: 'This run may not start processes.',
  },
  {
    ...clone,
    action: 'EPERM',
    tests: [{ argument: 0, mask: cloneThread, isOneOf: [0] }],
    reason: 'This run may not start processes; threads stay, or no runtime would start.',
  },
]
