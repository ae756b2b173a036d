"""The zygote: an interpreter that imports the given modules and never runs guest code. Each guest is a fork of it.

Usage: `guest_zygote.py <library> <folder:folder…> <module>…`, with the folders of the operator's packages. The library
(native/zygote) waits for requests on descriptor 3 and returns in each fork, confined like any guest. The fork then
continues like `guest.py`. It first renews state of the zygote that would reveal something about other guests, or would be
the same in two guests.
"""

import sys

SOCKET_DESCRIPTOR = 3
REPORT_BYTES_MAX = 200
# Modules that runs need, or that the first error needs; loaded once, here.
PARTS = (
    *("channel", "stage", "run", "compile", "watch", "values", "leaves", "text", "errors", "display", "inputs", "parked"),
    *("imports", "hooks", "suggestions", "kinds", "origins", "singles"),
)
# First uses of modules that are often preloaded. The first of each pair runs once in the zygote, to load and cache what
# the module needs; the second runs in each fork.
FIRST_USES = {
    "numpy": ("str(numpy.arange(3.0).reshape(3, 1).mean())", "numpy.arange(3).sum()"),
    "pandas": (
        "str(pandas.DataFrame({'a': [1, 2], 'b': [0.5, 1.5]}).sum()), str(pandas.Series(range(3)).describe())",
        "pandas.Series(range(3)).sum()",
    ),
}


def main(library_path, folders, names):
    add_packages(folders)
    try:
        library = load_library(library_path)
    except BaseException as error:
        refuse("ctypes", error)
    load = load_harness()
    with Preparing(load), Silence():
        for name in names:
            try:
                __import__(name)
            except BaseException as error:
                refuse(f"import {name}", error)
    warm_up(load)
    use_modules(names, 0)
    require_one_thread()
    settle_memory()
    report(f"!zygote_data_bytes={count_data_bytes()}\n".encode())
    if library.zygote_serve(SOCKET_DESCRIPTOR) != 0:
        raise SystemExit(0)
    if library.zygote_has_new_environment():
        take_environment(library)
    become_another()
    use_modules(names, 1)
    return load


def add_packages(folders):
    """As `guest.py` does."""
    own = (at for at, path in enumerate(sys.path) if path.endswith(("site-packages", "dist-packages")))
    at = next(own, len(sys.path))
    sys.path[at:at] = filter(None, folders)


def load_library(path):
    # `PyDLL` keeps the interpreter's lock, because the forking thread must hold it.
    import ctypes

    library = ctypes.PyDLL(path)
    library.zygote_environment.restype = ctypes.POINTER(ctypes.c_char_p)
    library.zygote_has_new_environment.restype = ctypes.c_bool
    return library


def refuse(what, error):
    """Report why there is no zygote, and exit."""
    report(f"{what}: {type(error).__name__}: {error}".encode("utf-8", "backslashreplace")[:REPORT_BYTES_MAX])
    raise SystemExit(1)


def report(data):
    import os

    os.write(SOCKET_DESCRIPTOR, data)


class Preparing:
    """Modules are imported with the same settings as in a run."""

    def __init__(self, load):
        self.finder = load("watch").ImportWatch

    def __enter__(self):
        sys.meta_path.insert(0, self.finder)

    def __exit__(self, *_error):
        sys.meta_path.remove(self.finder)


class Silence:
    """What imports print, also from C, is output of no run. Buffered, it would become output of each."""

    def __enter__(self):
        import os

        self.kept = [(os.dup(number), number) for number in (1, 2)]
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for _kept, number in self.kept:
            os.dup2(nowhere, number)
        os.close(nowhere)

    def __exit__(self, *_error):
        import os

        sys.stdout.flush()
        sys.stderr.flush()
        for kept, number in self.kept:
            os.dup2(kept, number)
            os.close(kept)


def load_harness():
    """As `guest.py` does."""
    path = __file__.rpartition("/")[0] + "/guest.py"
    with open(path, "rb") as file:
        names = {"__name__": "guest_zygote", "__file__": path}
        exec(compile(file.read(), path, "exec"), names)
    return names["create_loader"]()


def warm_up(load):
    """Load the parts that runs need, and perform a sample run."""
    for part in (*PARTS, "arrays") if "numpy" in sys.modules else PARTS:
        load(part)
    load("parked").perform_sample_run()
    sys.stdout.reconfigure(line_buffering=True)
    open_pipe_as_input()


def open_pipe_as_input():
    """Open stdin as a pipe, because that is what most runs have. The zygote's own is /dev/null, which is seekable."""
    import os

    reader, writer = os.pipe()
    os.dup2(reader, 0)
    os.close(reader)
    os.close(writer)
    open_input()


def open_input():
    """Open stdin with every argument that the interpreter itself passes (`create_stdio` in pylifecycle.c)."""
    import io

    before = sys.stdin
    binary = io.open(0, "rb", closefd=False)
    binary.raw.name = "<stdin>"
    # On Linux lines keep their ends: `newline=None`, the default, would change them.
    options = {"newline": "\n", "line_buffering": binary.isatty(), "write_through": before.write_through}
    sys.stdin = sys.__stdin__ = io.TextIOWrapper(binary, before.encoding, before.errors, **options)
    sys.stdin.mode = "r"


def use_modules(names, turn):
    """Use preloaded modules once. For example, the first sum in pandas copies about 400 pages in a fork."""
    for name in names:
        use = FIRST_USES.get(name)
        if use is None:
            continue
        try:
            eval(use[turn], {name: sys.modules[name]})
        except Exception:
            # Another version, or another module with that name.
            pass


def require_one_thread():
    """Refuse other threads. A fork has only the calling thread, so locks held by others would stay locked forever."""
    import os

    count = len(os.listdir("/proc/self/task"))
    if count != 1:
        refuse("preload", RuntimeError(f"{count - 1} threads were started, and a fork has none of them"))


def count_data_bytes():
    """The bytes that count against RLIMIT_DATA: the sixth number of /proc/self/statm, in pages."""
    import os

    with open("/proc/self/statm") as file:
        return int(file.read().split()[5]) * os.sysconf("SC_PAGE_SIZE")


def settle_memory():
    """Exclude permanent objects from garbage collection, because in a fork scanning one copies its page."""
    import gc

    gc.collect()
    gc.freeze()


# ---- in the fork ----


def take_environment(library):
    import os

    entries = library.zygote_environment()
    fresh = {}
    index = 0
    while entries[index] is not None:
        name, _equals, value = entries[index].partition(b"=")
        fresh[os.fsdecode(name)] = os.fsdecode(value)
        index += 1
    zone = os.environ.get("TZ")
    for name in [name for name in os.environ if name not in fresh]:
        del os.environ[name]
    for name, value in fresh.items():
        if os.environ.get(name) != value:
            os.environ[name] = value
    if fresh.get("TZ") != zone:
        import time

        time.tzset()


def become_another():
    """Renew what was seeded or cached at import. `random` and `tempfile` themselves renew a part of it."""
    import os

    modules = sys.modules
    reopen_input(os)
    # Makes `orig_argv` look as if the interpreter had been started for this run.
    harness = __file__.rpartition("/")[0] + "/guest.py"
    if hasattr(sys, "orig_argv"):
        sys.orig_argv = [*sys.orig_argv[: sys.orig_argv.index(__file__)], harness]
    if "threading" in modules:
        # Before Python 3.13 a fork keeps its parent's pid here.
        modules["threading"].main_thread()._set_native_id()
    if "random" in modules:
        modules["random"].seed()
    if "numpy.random" in modules:
        modules["numpy.random"].seed()
    if "tempfile" in modules:
        modules["tempfile"]._name_sequence = None
        modules["tempfile"].tempdir = None
    if "uuid" in modules:
        modules["uuid"]._node = modules["uuid"]._last_timestamp = None
    if "_ssl" in modules:
        # OpenSSL detects a fork by its process id, and forks in different spaces may have the same one.
        modules["_ssl"].RAND_add(os.urandom(32), 32.0)


def reopen_input(os):
    """Reopen stdin if it is not of the kind that the zygote has opened."""
    import stat

    mode = os.fstat(0).st_mode
    if not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)):
        open_input()


if __name__ == "__main__":
    load = main(sys.argv[1], sys.argv[2].split(":"), sys.argv[3:])
    raise load("stage").begin(load("run").main())
