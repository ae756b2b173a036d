"""Reads the host's answers to calls from the private descriptor: chooses the reading thread and assembles messages.

A signal handler may raise between any two bytecodes. So `extend` stores the result of a system call or a lock in the same
step in which it is returned, and data is dropped only after it has been processed. So nothing is lost, and processing a
message twice does no harm.
"""

import sys
from _thread import allocate_lock, get_ident
from errno import EBADF, ECONNRESET
from os import read
from select import POLLIN, poll

channel_part = load("channel")
parse_json = channel_part.parse_json
get_recursion_limit, set_recursion_limit = sys.getrecursionlimit, sys.setrecursionlimit

READ_BYTES_MAX = 1024 * 1024
CLOSED = (EBADF, ECONNRESET)


class Answers:
    """Only one thread reads at a time, on behalf of all. `take` is called for each answer, and `close` at the end."""

    def __init__(self, descriptor, take, close):
        self.descriptor = descriptor
        self.take = take
        self.close = close
        self.poller = poll()
        self.poller.register(descriptor, POLLIN)
        # The reading thread holds the lock. `reader` is its identifier.
        self.lock = allocate_lock()
        self.reader = None
        self.is_closed = False
        self.pieces = []
        self.inbox = []

    def is_there(self):
        return not self.is_closed and self.poller.poll(0)

    def read_while(self, is_wanted):
        """Read for all callers while `is_wanted()` is true. Returns False if another thread already reads."""
        taken = []
        try:
            taken.extend(map(self.lock.acquire, (False,)))
            if not taken[0]:
                return False
            self.reader = get_ident()
            while is_wanted():
                self.read_some()
        finally:
            if True in taken:
                self.reader = None
                self.lock.release()
        return True

    def is_interrupted(self):
        """Whether this is a signal handler or finalizer that interrupted the reading thread: it must not read."""
        return self.reader == get_ident()

    def read_some(self):
        pieces = self.pieces
        try:
            pieces.extend(map(read, (self.descriptor,), (READ_BYTES_MAX,)))
        except OSError as error:
            # A signal handler may also raise an OSError, most often TimeoutError.
            if error.errno not in CLOSED:
                raise
            pieces[:] = [b""]
        if not pieces[-1]:
            self.is_closed = True
            self.close()
            return
        messages, rest = split_messages(pieces)
        self.inbox += messages
        pieces[:] = rest
        while self.inbox:
            self.take(parse_deep(self.inbox[0]))
            del self.inbox[0]


def split_messages(pieces):
    """Returns the complete messages, and the remaining bytes."""
    # A long message arrives in many pieces. They are joined only once it is complete.
    if len(pieces[0]) >= 4 and sum(map(len, pieces)) < 4 + int.from_bytes(pieces[0][:4], "little"):
        return [], pieces[:]
    data = b"".join(pieces)
    messages, at = [], 0
    while len(data) - at >= 4:
        end = at + 4 + int.from_bytes(data[at : at + 4], "little")
        if end > len(data):
            break
        messages.append(data[at + 4 : end])
        at = end
    return messages, [data[at:]] if at < len(data) else []


def parse_deep(message):
    """Parse an answer into plain data and values. It may be nested more deeply than the guest's recursion limit."""
    text = str(message, "utf-8")
    try:
        return parse(text)
    except RecursionError:
        recursion_limit = get_recursion_limit()
        set_recursion_limit(max(recursion_limit, channel_part.RECEIVE_RECURSION_LIMIT))
        try:
            return parse(text)
        finally:
            set_recursion_limit(recursion_limit)


def parse(text):
    answer = parse_json(text)
    if '"$type"' in text and "value" in answer:
        answer["value"] = load("inputs").decode(answer["value"])
    return answer
