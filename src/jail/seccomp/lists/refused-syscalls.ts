/**
 * Calls that are refused with EPERM whatever their arguments are. Most need a capability that no guest has; they are
 * listed anyway, so that a bug in the kernel's own check, or a capability left over by mistake, is not enough.
 *
 * Similar calls that are allowed on purpose: pidfd_open, pidfd_send_signal, process_mrelease and rt_tgsigqueueinfo
 * (bounded by the pid namespace and by the rules of kill), landlock_* (they only restrict, and a cgroup
 * counts their rules), mlock* (bounded by its rlimit), map_shadow_stack and mseal (only the caller itself), uretprobe and
 * uprobe (the host's tracer plants them; refusing them crashes a guest that an operator traces).
 */
import { none, refuse } from '../syscall-rule.ts'

/** Other processes: their memory, descriptors and pages. */
const otherProcesses = refuse('EPERM', [
  ['ptrace', 101, 117, 'Reads, rewrites and steers another process.'],
  ['process_vm_readv', 310, 270, 'Reads the memory of another process.'],
  ['process_vm_writev', 311, 271, 'Writes the memory of another process.'],
  ['process_madvise', 440, 440, 'Evicts pages of another process from memory.'],
  ['kcmp', 312, 272, 'Compares kernel pointers, which helps to guess the layout of the heap.'],
  ['pidfd_getfd', 438, 438, 'Takes an open descriptor out of another process.'],
  ['move_pages', 279, 239, 'Moves pages of another process, and reveals on which node they lie.'],
  ['migrate_pages', 256, 238, 'Moves the pages of another process.'],
])

/** Namespaces and roots: the ways to leave a cell, or to gain capabilities in a new one. */
const namespaces = refuse('EPERM', [
  ['unshare', 272, 97, 'Makes namespaces; a user namespace opens most of the kernel to its owner.'],
  ['setns', 308, 268, 'Enters the namespaces of another process.'],
  ['pivot_root', 155, 41, 'Replaces the root of the mount namespace.'],
  ['chroot', 161, 51, 'A second root is the classic way out of the first.'],
])

/** The mount family, old and new; its newest reader calls are in the ENOSYS table. */
const mounts = refuse('EPERM', [
  ['mount', 165, 40, 'Mounts, remounts and moves file systems.'],
  ['umount2', 166, 39, 'Uncovers what a mount hides.'],
  ['open_tree', 428, 428, 'Clones mounts.'],
  ['open_tree_attr', 467, 467, 'Clones mounts and changes their flags, such as read-only, in one step.'],
  ['move_mount', 429, 429, 'Attaches a cloned or new mount.'],
  ['fsopen', 430, 430, 'Opens a file system driver; its option parsers had several escapes.'],
  ['fsconfig', 431, 431, 'Feeds options to a file system driver (CVE-2022-0185).'],
  ['fsmount', 432, 432, 'Makes a mount of a configured file system.'],
  ['fspick', 433, 433, 'Reconfigures a mounted file system.'],
  ['mount_setattr', 442, 442, 'Clears read-only, nosuid and nodev.'],
])

/** Files by handle instead of by path: a handle knows nothing of mounts, roots or Landlock. */
const fileHandles = refuse('EPERM', [
  ['open_by_handle_at', 304, 265, 'Opens any file of a file system, whatever the root is (Shocker, 2014).'],
  ['name_to_handle_at', 303, 264, 'Makes the handles for the call above; guests need none.'],
  ['fanotify_init', 300, 262, 'Watches whole file systems, beyond what the guest can see.'],
  ['lookup_dcookie', 212, 18, 'Turns a profiler cookie into a path of the host.'],
])

/** The machine itself. */
const machine = refuse('EPERM', [
  ['reboot', 169, 142, 'Restarts the machine; in a pid namespace, kills its pid 1.'],
  ['swapon', 167, 224, 'Adds a swap area to the machine.'],
  ['swapoff', 168, 225, 'Removes a swap area from the machine.'],
  ['sethostname', 170, 161, 'Changes the name of the cell.'],
  ['setdomainname', 171, 162, 'Changes the name of the cell.'],
  ['iopl', 172, none, 'Direct access to the ports of the hardware.'],
  ['ioperm', 173, none, 'Direct access to the ports of the hardware.'],
  ['quotactl', 179, 60, 'Changes disk quotas.'],
  ['quotactl_fd', 443, 443, 'Changes disk quotas, by descriptor.'],
  ['acct', 163, 89, 'Writes process accounting of the machine to a file.'],
  ['vhangup', 153, 58, 'Hangs up the terminal of the session.'],
  ['syslog', 103, 116, 'Reads and clears the log of the kernel, with addresses in it.'],
])

/**
 * Clocks belong to the machine. adjtimex and clock_adjtime can also just read, but whether they do is written in
 * memory that a filter cannot see, and only time daemons call them.
 */
const clocks = refuse('EPERM', [
  ['settimeofday', 164, 170, 'Sets the clock.'],
  ['clock_settime', 227, 112, 'Sets a clock.'],
  ['adjtimex', 159, 171, 'Tunes the clock.'],
  ['clock_adjtime', 305, 266, 'Tunes a clock.'],
])

/** Code for the kernel, and the kernel's own instruments. */
const kernelCode = refuse('EPERM', [
  ['init_module', 175, 105, 'Loads code into the kernel.'],
  ['finit_module', 313, 273, 'Loads code into the kernel, from a descriptor.'],
  ['delete_module', 176, 106, 'Unloads code of the kernel.'],
  ['create_module', 174, none, 'The module loader of Linux 2.4, which no longer exists.'],
  ['query_module', 178, none, 'The module loader of Linux 2.4, which no longer exists.'],
  ['get_kernel_syms', 177, none, 'The module loader of Linux 2.4, which no longer exists.'],
  ['kexec_load', 246, 104, 'Boots another kernel.'],
  ['kexec_file_load', 320, 294, 'Boots another kernel, from a descriptor.'],
  ['bpf', 321, 280, 'Runs code in the kernel; its verifier is a frequent way to become root.'],
  ['perf_event_open', 298, 241, 'Counters of the processor: side channels and a long list of kernel bugs.'],
  ['lsm_set_self_attr', 460, 460, 'Relabels the caller for AppArmor or SELinux; labels are the host’s.'],
])

/** Old calls that no program needs and few people still review. */
const relics = refuse('EPERM', [
  ['modify_ldt', 154, none, 'Segments for 16-bit code, with bugs of its own (CVE-2015-5157).'],
  ['uselib', 134, none, 'Loads an a.out library.'],
  ['ustat', 136, none, 'Describes any mounted device by number.'],
  ['sysfs', 139, none, 'Lists the file systems of the kernel.'],
  ['_sysctl', 156, none, 'Reads and writes kernel settings by number.'],
  ['nfsservctl', 180, 42, 'Steered the NFS server of Linux 2.x.'],
])

export const refusedSyscalls = [
  ...otherProcesses,
  ...namespaces,
  ...mounts,
  ...fileHandles,
  ...machine,
  ...clocks,
  ...kernelCode,
  ...relics,
]
