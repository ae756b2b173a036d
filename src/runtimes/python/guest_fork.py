"""Creates a second context with the state of this one, by fork(2).

The host requests a fork, and the exit code of the answer says whether anything prevents it. Pid 1 then sends descriptors for
the fork and a Landlock ruleset. The fork must become a child of pid 1, so this process forks twice, and stops being a
subreaper in the meantime. Then each of the two restricts itself to its own Landlock domain, so neither can signal or trace
the other.
"""

import os
import sys
from _thread import _count as count_threads
from errno import E2BIG, EAGAIN, EBUSY

# Obstacles to a fork; `fork-obstacles.ts` has the host's texts.
READY, THREADS, CHILDREN, TASKS, NO_CALLS, BUSY = 0, 2, 3, 4, 5, 6
PR_SET_CHILD_SUBREAPER = 36
LANDLOCK_RESTRICT_SELF = 446
CHANNEL_DESCRIPTOR, EXEC_DESCRIPTOR, RULESET, DESCRIPTORS = 3, 4, 5, 6
ORPHANED_SECONDS_MAX = 2


def split(context, send_end):
    """Answer the host, then fork. Returns in both processes, or at once if the fork is refused or called off."""
    obstacle = find_obstacle(context)
    send_end(context.channel, obstacle)
    if obstacle != READY:
        return
    descriptors = receive_descriptors(context.inbox.answers)
    if descriptors is not None:
        try:
            fork(context, descriptors)
        except BaseException:
            # The guest's at-fork handlers or audit hooks raised, or no process could be created. The host learns that from
            # the end of the exec pipe.
            pass
        finally:
            if os.getpid() == context.channel.process:
                close_all(descriptors)


def find_obstacle(context):
    try:
        if count_threads() > 0:
            return THREADS
        if has_children():
            return CHILDREN
        if has_tasks(context.loop):
            return TASKS
        if context.inbox.answers.pieces or context.inbox.calls:
            return BUSY
        create_calls()
    except Exception:
        return NO_CALLS
    return READY


def has_children():
    for task in os.listdir("/proc/self/task"):
        with open(f"/proc/self/task/{task}/children") as file:
            children = file.read().split()
        if any(is_alive(child) for child in children):
            return True
    return False


def is_alive(pid):
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] not in (b"Z", b"X")
    except OSError:
        return False


def has_tasks(loop):
    if loop is None or loop.is_closed():
        return False
    return any(not task.done() for task in sys.modules["asyncio"].all_tasks(loop))


def create_calls():
    """Create functions for system calls that `os` lacks. Uses `_ctypes`, because importing `ctypes` takes ten times as long."""
    import _ctypes

    program = _ctypes.dlopen(None, 0)
    syscall, prctl = _ctypes.dlsym(program, "syscall"), _ctypes.dlsym(program, "prctl")

    def restrict(ruleset):
        return _ctypes.call_function(syscall, (LANDLOCK_RESTRICT_SELF, ruleset, 0)) == 0

    def adopt(is_wanted):
        return _ctypes.call_function(prctl, (PR_SET_CHILD_SUBREAPER, int(is_wanted), 0, 0, 0)) == 0

    return restrict, adopt


def receive_descriptors(answers):
    """Receive the descriptors. If another message arrives instead, put its first byte back and return None."""
    import _socket

    channel = _socket.socket(fileno=CHANNEL_DESCRIPTOR)
    try:
        data, parts, _flags, _address = channel.recvmsg(1, _socket.CMSG_SPACE(DESCRIPTORS * 4), _socket.MSG_CMSG_CLOEXEC)
    finally:
        channel.detach()
    numbers = b"".join(each for _level, _type, each in parts)
    descriptors = [int.from_bytes(numbers[at : at + 4], sys.byteorder) for at in range(0, len(numbers), 4)]
    if len(descriptors) == DESCRIPTORS:
        return descriptors
    close_all(descriptors)
    answers.pieces.append(data)
    return None


def fork(context, descriptors):
    restrict, adopt = create_calls()
    wait_end, go_end = os.pipe()
    adopt(False)
    try:
        middle = os.fork()
        if middle == 0:
            become_fork(context, descriptors, (wait_end, go_end))
            return
        # Libraries that are prepared for forks have ended their threads by now. Any other thread would stay outside the
        # Landlock domain.
        is_alone = len(os.listdir("/proc/self/task")) == 1
        if is_alone:
            os.write(go_end, b"1")
        close_all((wait_end, go_end))
        status = os.waitpid(middle, 0)[1]
    finally:
        if os.getpid() == context.channel.process:
            adopt(True)
    if status == 0 and not restrict(descriptors[RULESET]):
        os._exit(1)


def become_fork(context, descriptors, gate):
    """Returns only in the fork."""
    report = descriptors[EXEC_DESCRIPTOR]
    try:
        restrict, adopt = create_calls()
        wait_end, go_end = gate
        os.close(go_end)
        if os.read(wait_end, 1) != b"1":
            give_up(report, EBUSY)
        os.close(wait_end)
        if not restrict(descriptors[RULESET]):
            give_up(report, E2BIG)
        if os.fork() != 0:
            os._exit(0)
        await_adoption(report)
        adopt(True)
        os.setsid()
        for number, descriptor in enumerate(descriptors[:EXEC_DESCRIPTOR]):
            os.dup2(descriptor, number, number < CHANNEL_DESCRIPTOR)
        close_all(each for at, each in enumerate(descriptors) if at != EXEC_DESCRIPTOR)
        reopen_files()
        forget_loops(context)
        reseed()
        context.channel.process = os.getpid()
        os.write(report, bytes(4) + os.getpid().to_bytes(4, "little"))
        os.close(report)
    except BaseException:
        give_up(report, EAGAIN)


def give_up(report, error):
    os.write(report, error.to_bytes(4, "little") + b"fork the guest")
    os._exit(1)


def await_adoption(report):
    """Waits until the intermediate process has ended and this one is a child of pid 1."""
    from time import monotonic, sleep

    end = monotonic() + ORPHANED_SECONDS_MAX
    while os.getppid() != 1:
        if monotonic() > end:
            give_up(report, EAGAIN)
        sleep(0.0001)


def reopen_files():
    """Reopens regular files. Otherwise both processes share each file's offset, and a read by one moves it for the other."""
    from fcntl import F_GETFL, fcntl
    from stat import S_ISREG

    for number in map(int, os.listdir("/proc/self/fd")):
        try:
            if number <= CHANNEL_DESCRIPTOR or not S_ISREG(os.fstat(number).st_mode):
                continue
            flags = fcntl(number, F_GETFL) & ~(os.O_CREAT | os.O_EXCL | os.O_TRUNC)
            own = os.open(f"/proc/self/fd/{number}", flags | os.O_CLOEXEC)
            os.lseek(own, os.lseek(number, 0, os.SEEK_CUR), os.SEEK_SET)
            os.dup2(own, number, os.get_inheritable(number))
            os.close(own)
        except OSError:
            # A file that this process may not open again stays shared, as after any fork.
            continue


def forget_loops(context):
    """Event loops share their epoll instance with the origin, and even closing a loop here would change that instance."""
    context.inbox.loops = []
    if context.loop is not None:
        context.abandoned.append(context.loop)
        context.loop = None


def reseed():
    """Reseeds numpy. The module `random` reseeds itself."""
    numbers = sys.modules.get("numpy.random")
    if numbers is not None and hasattr(numbers, "seed"):
        numbers.seed()


def close_all(descriptors):
    for each in descriptors:
        try:
            os.close(each)
        except OSError:
            pass
