"""Calls the guest's code with none of the harness's frames below it, as the interpreter runs a file.

Warnings, `traceback`, `inspect`, `logging`, debuggers and others walk the stack, so a frame is hidden from all of them only if
it is not there. The interpreter itself calls `sys.stderr.flush` after the last statement of a script, when no frame is left.
From there on C calls C: `deque` takes from `chain`, which takes from a generator of the harness, and that generator is not on
the stack while the guest's code runs.
"""

import sys
from _collections import deque
from _functools import _lru_cache_wrapper as remember
from _functools import partial
from _io import BytesIO, TextIOWrapper
from _operator import itemgetter, methodcaller
from itertools import chain

INTERRUPTED_EXIT_CODE = 130

set_trace, set_profile, initial_excepthook = sys.settrace, sys.setprofile, sys.excepthook
without_tracing = (partial(set_trace, None), partial(set_profile, None))


class Stage:
    """What stands in for stderr until the interpreter flushes it."""

    def __init__(self, flush):
        self.flush = flush


def begin(steps):
    """Return the exception with which the script has to end. Then `steps` runs.

    `steps` is a generator of the harness. It yields functions without parameters, which are called in turn until one fails,
    and gets what they returned and the exception or None. It may end with SystemExit.
    """
    ending = SystemExit(1)
    sys.stderr = Stage(partial(deque, chain.from_iterable(take_turns(steps, ending, sys.stderr)), 0))
    return ending


def take_turns(steps, ending, stderr):
    sys.stderr = stderr
    turn = None
    try:
        while True:
            functions = next(steps) if turn is None else turn.tell(steps)
            turn = Turn(functions)
            yield iter(turn.stream.close, None)
    except StopIteration:
        ending.code = 0
    except SystemExit as last:
        ending.code = last.code
    except BaseException as error:
        ending.code = INTERRUPTED_EXIT_CODE if type(error) is KeyboardInterrupt else 1
        initial_excepthook(type(error), error, error.__traceback__)


class Turn:
    """Calls of functions, one after another until one fails.

    `close` of a text stream is `try: flush() finally: buffer.close()` in C, and chains the two exceptions. The second is
    always a StopIteration, which ends only the iterator of this turn.
    """

    def __init__(self, functions):
        # Called again, it returns what the functions have returned.
        self.perform = remember(call_in_order(*functions), None, False, tuple)
        self.end = StopIteration()
        buffer = Buffer()
        self.stream = Stream(buffer, "utf-8")
        self.stream.flush = self.perform
        # What traces the guest's code does not trace the harness.
        buffer.close = call_in_order(*without_tracing, buffer.close, self.finish)

    def finish(self):
        raise self.end

    def tell(self, steps):
        error, self.end.__context__ = self.end.__context__, None
        results = self.perform()[2:] if error is None else ()
        # Nothing of the guest lives longer because this object is in a cycle.
        self.perform = self.stream = None
        return steps.send((results, error))


class Stream(TextIOWrapper):
    """A stream whose methods can be replaced, as those of the next."""


class Buffer(BytesIO):
    pass


class Results(dict):
    """Looking up a function calls it."""

    __missing__ = methodcaller("__call__")


def call_in_order(*functions):
    """A function in C that calls these. Unlike a loop in C, `itemgetter` passes on a StopIteration."""
    # With at least two keys it returns a tuple.
    return partial(itemgetter(None, None, *functions), Results({None: None}))


def may_raise(frame):
    """Whether an exception may be raised in this frame: it is the guest's, or that of a step, which handles it.

    In the code between them nothing would call the next step.
    """
    found = frame
    while found is not None and found.f_code not in CODES:
        found = found.f_back
    if found is None:
        return frame is not None
    return found is not frame and found.f_code is Turn.tell.__code__


CODES = frozenset((take_turns.__code__, Turn.__init__.__code__, Turn.finish.__code__, Turn.tell.__code__, call_in_order.__code__))
