import assert from 'node:assert/strict'
import { describe, it } from 'node:test'

import { planRules } from '../../../src/jail/seccomp/policy.ts'

// The promises, listed separately from the tables that implement them: a line that is lost there fails here.
const refused = `ptrace process_vm_readv process_vm_writev kcmp pidfd_getfd process_madvise move_pages migrate_pages
  unshare setns pivot_root chroot mount umount2 open_tree open_tree_attr move_mount fsopen fsconfig fsmount fspick
  mount_setattr swapon swapoff reboot sethostname setdomainname iopl ioperm init_module finit_module delete_module
  create_module query_module get_kernel_syms kexec_load kexec_file_load quotactl quotactl_fd acct settimeofday
  clock_settime adjtimex clock_adjtime syslog perf_event_open bpf fanotify_init open_by_handle_at name_to_handle_at
  lookup_dcookie vhangup uselib ustat sysfs _sysctl nfsservctl modify_ldt lsm_set_self_attr`

const absent = `clone3 io_uring_setup io_uring_enter io_uring_register userfaultfd keyctl add_key request_key
  memfd_secret vmsplice statmount listmount cachestat io_setup
  mbind set_mempolicy set_mempolicy_home_node get_mempolicy`

const withoutEffect = 'splice'

const uncounted = 'memfd_create shmget shmat semget msgget landlock_create_ruleset sendfile'

const needed = `execve mprotect socketpair memfd_create pidfd_open pidfd_send_signal landlock_restrict_self mlock
  futex_waitv mseal uretprobe uprobe rseq membarrier copy_file_range getrandom`

const words = (text: string) => text.split(/\s+/).toSorted()

describe('the policy promises', () => {
  const rules = planRules({ architecture: 'x64', memoryHeldByCgroup: true })
  const always = (action: string) =>
    rules.filter((rule) => rule.action === action && rule.tests === undefined).map((rule) => rule.name)

  it('to refuse what leaves the cell, reaches others or changes the machine', () => {
    assert.deepEqual(always('EPERM').toSorted(), words(refused))
  })

  it('to hide what programs can do without', () => {
    assert.deepEqual(always('ENOSYS').toSorted(), words(absent))
  })

  it('to answer EINVAL to those that programs fall back from', () => {
    assert.deepEqual(always('EINVAL').toSorted(), words(withoutEffect))
  })

  it('to hide memory that no limit counts, where no cgroup counts it', () => {
    const refusedAlready = new Set(rules.filter((rule) => rule.tests === undefined).map((rule) => rule.name))
    const more = planRules({ architecture: 'x64', memoryHeldByCgroup: false })
      .filter((rule) => !refusedAlready.has(rule.name) && rule.tests === undefined)
      .map((rule) => rule.name)
    assert.deepEqual(more.toSorted(), words(uncounted))
  })

  it('to leave alone what every runtime needs', () => {
    const refusedAlways = new Set([...always('EPERM'), ...always('ENOSYS'), ...always('EINVAL')])
    for (const name of words(needed)) assert.ok(!refusedAlways.has(name), name)
  })
})
