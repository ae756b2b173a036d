"""Adapts the interpreter and a few modules of its library to the run, without importing any of them.

`guest_imports.py` and `guest_hooks.py` do the work, and are loaded on demand.
"""

import _thread
import sys

# `threading` is not listed: it takes its hook from `_thread`.
WATCHED_MODULES = frozenset(
    (
        *("linecache", "multiprocessing.spawn", "IPython.core.display_functions"),
        *("matplotlib", "matplotlib.pyplot", "plotly.io._renderers", "PIL.ImageShow"),
    )
)

initial_excepthook, initial_unraisablehook = sys.excepthook, sys.unraisablehook
# The run of this process: an object with its `source`, its `input` and its `show`.
running = None


def watch(run):
    global running
    running = run
    sys.meta_path.insert(0, ImportWatch)
    # The interpreter's own hooks take the program's lines from a file with its name.
    sys.excepthook = sys.__excepthook__ = show_exception
    sys.unraisablehook = sys.__unraisablehook__ = show_unraisable
    _thread._excepthook = show_thread_exception
    # Does not iterate over all modules, because in a fork each access copies a page.
    for name in (*WATCHED_MODULES, "threading"):
        if name in sys.modules:
            load("imports").tell(name, sys.modules[name])


class ImportWatch:
    """A finder that finds only the watched modules."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        return load("imports").find_spec(name, path, target) if name in WATCHED_MODULES else None


def show_exception(kind, error, trace, /):
    # If it is not an exception, the interpreter's own hook says so.
    if isinstance(error, BaseException):
        load("hooks").show_exception(error, trace)
    else:
        initial_excepthook(kind, error, trace)


def show_unraisable(unraisable, /):
    if hasattr(unraisable, "err_msg"):
        load("hooks").show_unraisable(unraisable)
    else:
        initial_unraisablehook(unraisable)


def show_thread_exception(args, /):
    load("hooks").show_thread_exception(args)


# It replaces a function of `_thread`, so it has that module's name.
show_thread_exception.__module__ = "_thread"


def compile_watched(compile_program, source):
    """Compile. If nothing has imported `warnings` yet, import it at the compiler's first warning.

    Otherwise the interpreter would take the line from a file with the program's name.
    """
    if "warnings" in sys.modules:
        return compile_program(source)
    stand_in = sys.modules["warnings"] = type(sys)("warnings")
    stand_in.WarningMessage = lambda *details: details
    stand_in._showwarnmsg = show_warning
    try:
        return compile_program(source)
    finally:
        if sys.modules.get("warnings") is stand_in:
            del sys.modules["warnings"]


def show_warning(details):
    del sys.modules["warnings"]
    import warnings

    warnings._showwarnmsg(warnings.WarningMessage(*details))
