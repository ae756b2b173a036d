"""Prints errors that do not end the program: uncaught errors of threads, of `__del__` and of callbacks.

The format is that of the interpreter's own hooks, but with only the guest's frames and source lines.
"""

import sys
from _thread import get_ident

errors = load("errors")


def show_exception(error, trace):
    """`sys.__excepthook__`, for programs that call it."""
    print_text(errors.format_safely(error, trace))


def show_thread_exception(args):
    if args.exc_type is SystemExit:
        return
    thread = args.thread
    name = get_ident() if thread is None else thread.name
    text = f"Exception in thread {name}:\n" + errors.format_safely(args.exc_value, args.exc_traceback)
    # A thread keeps the stream that existed when it was created.
    print_text(text, getattr(thread, "_stderr", None))


def show_unraisable(unraisable):
    message, owner = unraisable.err_msg, unraisable.object
    if owner is None:
        head = f"{message}:\n" if message else ""
    else:
        head = f"{message or 'Exception ignored in'}: {describe(owner)}\n"
    print_text(head + errors.format_safely(unraisable.exc_value, unraisable.exc_traceback, chain=False))


def describe(owner):
    try:
        return repr(owner)
    except BaseException:
        return "<object repr() failed>"


def print_text(text, reserve=None):
    stream = reserve if sys.stderr is None else sys.stderr
    if stream is not None:
        stream.write(text)
        stream.flush()
