"""`Did you mean: …?` in Python 3.10 and 3.11, which offer it only when the interpreter itself prints an error.

So this module makes the interpreter print the error again, captures the text, and extracts the suggestions.
"""

import sys
from _thread import get_ident

OFFER = ". Did you mean: "

print_with_offers = load("watch").initial_excepthook


class Listener:
    """Replaces a stream: keeps the text of one thread, and forwards the text of all others to the original stream."""

    def __init__(self, stream):
        self.stream, self.thread, self.pieces = stream, get_ident(), []

    def write(self, text):
        if get_ident() == self.thread:
            self.pieces.append(text)
        elif self.stream is not None:
            self.stream.write(text)

    def flush(self):
        if self.stream is not None and get_ident() != self.thread:
            self.stream.flush()


def suggest(error, trace, parts):
    """Add the suggestions to the messages of `parts`, the `TracebackException`s of the error."""
    listener = Listener(sys.stderr)
    sys.stderr = listener
    try:
        print_with_offers(type(error), error, trace)
    finally:
        sys.stderr = listener.stream
    printed = "".join(listener.pieces).split("\n")
    for each in parts:
        end = f": {each._str}{OFFER}"
        line = next((line for line in printed if end in line), None)
        if line is not None:
            each._str += OFFER + line.partition(OFFER)[2]
