/** Python for a guest that tries everything that one process can do to another, on pid 1 and on its own parent. */
import { pythonSyscalls } from './guest-python.ts'

/** Prints its parent's state afterwards, and what was allowed: `{"state": …, "allowed": […]}`. */
export const attackPid1 = `${pythonSyscalls}
import time
answers = {}
def attack(pid):
    pidfd = _libc.syscall(ctypes.c_long(_numbers['pidfd_open']), ctypes.c_long(pid), ctypes.c_long(0))
    for number in (9, 19):
        call('kill', pid, number); call('tgkill', pid, pid, number); call('pidfd_send_signal', pidfd, number, None, 0)
    note = lambda what, answer: answers.update({'%s of %d' % (what, pid): answer})
    note('ptrace attach', call('ptrace', 16, pid, 0, 0))
    note('ptrace seize', call('ptrace', 0x4206, pid, 0, 0))
    limit = (ctypes.c_uint64 * 2)(0, 0)
    for resource in (0, 1, 7, 9): note('prlimit %d' % resource, call('prlimit64', pid, resource, limit, None))
    note('read memory', call('process_vm_readv', pid, limit, 1, limit, 1, 0))
    note('take a descriptor', call('pidfd_getfd', pidfd, 3, 0))
    note('renice', call('setpriority', 0, pid, 19))
    mask = (ctypes.c_uint64 * 16)(1)
    note('pin', call('sched_setaffinity', pid, 128, mask))
    param = (ctypes.c_int * 1)(0)
    note('schedule as idle', call('sched_setscheduler', pid, 5, param))
    note('disk priority', call('ioprio_set', 1, pid, 3 << 13))
    for name in ('environ', 'mem', 'maps', 'oom_score_adj', 'exe', 'cwd', 'root', 'fd', 'fdinfo', 'ns/pid', 'ns/user', 'stack', 'io', 'auxv', 'coredump_filter', 'clear_refs'):
        path = '/proc/%d/%s' % (pid, name)
        try:
            if name in ('oom_score_adj', 'coredump_filter', 'clear_refs'): open(path, 'w').write('1')
            elif name in ('fd', 'fdinfo'): os.listdir(path)
            elif name in ('exe', 'cwd', 'root', 'ns/pid', 'ns/user'): os.readlink(path)
            else: open(path, 'rb').read(16)
            note(path, 'ok')
        except OSError as error: note(path, errno.errorcode[error.errno])
for pid in {1, os.getppid()}: attack(pid)
time.sleep(0.05)
try: state = open('/proc/%d/stat' % os.getppid()).read().rsplit(')', 1)[1].split()[0]
except PermissionError: state = 'hidden'
print(json.dumps({'state': state, 'allowed': [k for k, v in answers.items() if v not in ('EPERM', 'EACCES')]}))`
