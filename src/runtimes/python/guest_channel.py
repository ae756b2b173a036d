"""The private descriptor: length-prefixed JSON, one request in, messages out (`channel-protocol.ts`).

Only the C part of the `json` module reads and writes JSON: `import json` would load `re` and `enum`, which
take longer than the rest of the harness together.
"""

from _thread import RLock
from os import getpid, read, set_inheritable, write
from sys import getrecursionlimit, setrecursionlimit

try:
    from _json import encode_basestring, make_scanner
except ImportError:  # An interpreter built without the accelerator.
    from json.encoder import py_encode_basestring as encode_basestring
    from json.scanner import py_make_scanner as make_scanner

# The host bounds code and input far below this; a larger length means that the peer does not use this protocol.
REQUEST_BYTES_MAX = 256 * 1024 * 1024
READ_BYTES_MAX = 1024 * 1024
# An input has up to 1,000 levels of values, each up to three levels of JSON and two calls of the decoder.
RECEIVE_RECURSION_LIMIT = 10_000
# The digits of 2**53, the first integer that a float cannot distinguish from the next one.
LONG_NUMBER = b"0" * 16
DIGITS_ALIKE = bytes(48 if 48 <= byte <= 57 else byte for byte in range(256))


class ScannerOptions:
    """The attributes that `json.JSONDecoder` gives to its scanner."""

    strict = False
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_constant = float

    def __init__(self, parse_int):
        self.memo = {}
        self.parse_int = parse_int


def parse_json(text):
    # Calling a Python function for each number is slow, so only a text that may need it gets one.
    has_long_number = LONG_NUMBER in text.encode("utf-8", "replace").translate(DIGITS_ALIKE)
    parse_int = parse_integer if has_long_number else int
    try:
        return make_scanner(ScannerOptions(parse_int))(text, 0)[0]
    except RecursionError:
        # Python 3.12 has a fixed recursion limit in C, below the depth of inputs. Python code follows the limit set above.
        from json import JSONDecoder
        from json.scanner import py_make_scanner

        return py_make_scanner(JSONDecoder(strict=False, parse_int=parse_int))(text, 0)[0]


def parse_integer(text):
    """The host sends exact integers as BigInt. Its plain numbers are floats, so a large one becomes a float here."""
    return int(text) if len(text) < len(LONG_NUMBER) or abs(int(text)) < 2**53 else float(text)


def quote(text):
    """A JSON string literal. Lone surrogates stay in it; `Channel.send` escapes them."""
    return encode_basestring(text)


class Channel:
    """The guest's end of the private descriptor. Safe to use from threads and from signal handlers."""

    def __init__(self, descriptor):
        self.descriptor = descriptor
        self.process = getpid()
        self.lock = RLock()
        self.waiting = []
        self.sending = False
        # Programs that the guest starts do not inherit it.
        set_inheritable(descriptor, False)

    def receive(self):
        """The host's request, as plain data."""
        length = int.from_bytes(self.read_exactly(4), "little")
        if length > REQUEST_BYTES_MAX:
            raise ValueError("the request is too long")
        text = str(self.read_exactly(length), "utf-8")
        recursion_limit = getrecursionlimit()
        setrecursionlimit(RECEIVE_RECURSION_LIMIT)
        try:
            request = parse_json(text)
            # Only an input with a tag needs the decoder, which takes time to load.
            if "input" in request and "$type" in text:
                request["input"] = load("inputs").decode(request["input"])
        finally:
            setrecursionlimit(recursion_limit)
        return request

    def read_exactly(self, count):
        pieces = []
        while count > 0:
            piece = read(self.descriptor, min(count, READ_BYTES_MAX))
            if not piece:
                raise EOFError("the host closed the channel before its request was complete")
            pieces.append(piece)
            count -= len(piece)
        return b"".join(pieces)

    def send(self, message):
        """Send one message, given as JSON text. Errors are ignored, because only the guest itself can close the channel."""
        # Processes that the guest forks run this code to its end, too; only the first process reports for the run.
        if getpid() != self.process:
            return
        # Outside of string literals the JSON is ASCII, so this escapes exactly the lone surrogates, in JSON's notation.
        data = message.encode("utf-8", "backslashreplace")
        self.waiting.append(len(data).to_bytes(4, "little") + data)
        with self.lock:
            # True only if a signal handler interrupted the write below: that write then sends this message, too.
            if self.sending:
                return
            self.sending = True
            try:
                while self.waiting:
                    self.write_whole(self.waiting.pop(0))
            finally:
                self.sending = False

    def write_whole(self, data):
        # One system call sends all but the largest messages, so an exception from a signal handler cannot cut one.
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[write(self.descriptor, rest) :]
        except OSError:
            return
