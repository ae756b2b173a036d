"""The host's functions, as globals of the program and of its modules. Loaded only for requests that have functions.

If an event loop runs in the calling thread, a call starts at once and returns an awaitable. Otherwise it blocks and
returns the value. There is no separate thread that reads answers: one of the waiting threads reads for all, and an event
loop watches the descriptor itself. So a single call needs one write and one read, and nothing outlives its caller.
"""

import builtins
import sys
from _collections import deque
from _thread import RLock, allocate_lock, get_ident
from itertools import count
from os import getpid

leaves, unsendable = load("leaves"), load("unsendable")
Answers, HostCall = load("answers").Answers, load("awaitable").HostCall
channel_part, HostFunctionError = load("channel"), load("host_error").HostFunctionError
quote, parse_json = channel_part.quote, channel_part.parse_json

# `callsAtOnceMax` and `callBytesAtOnce` of the protocol.
CALLS_AT_ONCE_MAX = 1024
CALL_BYTES_AT_ONCE = 4 * 1024 * 1024
# Strings up to this length and integers up to this size do not need the encoder.
SMALL_MAX = 1000
NO_ANSWER = "the host no longer answers"
LOST = '{"$type":"Unserializable","text":'
# Precedes the fields of a plain dict that looks like a tag.
ESCAPE = '{"$type":"Object","value":'


# Names that library code needs. A host function with one of these names is visible only to the program.
LIBRARY_NAMES = frozenset(vars(builtins))


def install(request, channel, names):
    functions = request["functions"]
    provide(functions["names"], Caller(channel, functions["callsMax"], request["resultBytes"]), names)


def provide(function_names, caller, names):
    """Define the functions for the program, and as built-ins for the modules that it imports."""
    builtins.HostFunctionError = HostFunctionError
    for name in function_names:
        names[name] = create_function(caller, name)
        if name not in LIBRARY_NAMES:
            setattr(builtins, name, names[name])


def create_function(caller, name):
    def function(*args, **options):
        return caller.call(name, args, options)

    function.__name__ = function.__qualname__ = name
    function.__module__ = "__main__"
    function.__doc__ = f"`{name}` of the host. Keyword arguments become one last argument."
    return function


class Elsewhere:
    """Replaces the `Caller` in processes that the program started."""

    @staticmethod
    def call(name, _args, _options):
        text = "can only be called in the process that the run started, not in one that it started itself"
        raise HostFunctionError(f"{name!r} {text}")


class Call:
    """One unanswered call. A thread waits for `wake` to be released, or a task for `future`."""

    def __init__(self, call_id, message):
        self.id = call_id
        self.message = message
        self.value = None
        self.error = None
        self.is_done = False
        self.wake = None
        self.loop = None
        self.future = None
        self.thread = get_ident()


class Caller:
    def __init__(self, channel, calls_max, argument_bytes):
        self.channel = channel
        self.calls_max = calls_max
        self.argument_bytes = argument_bytes
        self.answers = Answers(channel.descriptor, self.take, self.close)
        # Reentrant, because signal handlers and finalizers may try to call too.
        self.lock = RLock()
        self.ids = count(1)
        # id → call whose caller still waits, and the subset of calls that block a thread.
        self.calls = {}
        self.blocking = {}
        # id → bytes of every call that the host has not answered.
        self.sent = {}
        self.sent_bytes = 0
        self.unsent = deque()
        self.loops = []

    def call(self, name, args, options):
        if getpid() != self.channel.process:
            Elsewhere.call(name, args, options)
        if self.answers.is_closed:
            raise HostFunctionError(NO_ANSWER)
        encoded = self.encode(name, (*args, options) if options else args)
        call_id = next(self.ids)
        if call_id > self.calls_max:
            text = f"A run may call host functions {self.calls_max} times (functionCallsMax)."
            raise HostFunctionError(text, "FunctionLimitError")
        call = Call(call_id, f'{{"type":"call","id":{call_id},"name":{quote(name)},"args":{encoded}}}')
        loop = running_loop()
        if loop is None:
            return self.wait(call)
        self.watch(loop)
        call.loop, call.future = loop, loop.create_future()
        self.begin(call)
        return HostCall(name, call.future)

    def encode(self, name, args):
        """The arguments as JSON. Raises an error that describes an invalid argument."""
        pieces = [leaves.SCALARS[type(each)](each) for each in args if is_small(each)]
        # A character takes at most 6 bytes of JSON.
        if len(pieces) == len(args) and len(pieces) * 8 * SMALL_MAX < self.argument_bytes:
            return "[" + ",".join(pieces) + "]"
        encoded, truncated = load("values").encode(list(args), "", self.argument_bytes)
        if truncated:
            text = f"the arguments of {name!r} take more than {self.argument_bytes} bytes, or are nested too deeply"
            raise ValueError(text)
        lost = encoded.find(LOST)
        while lost >= 0:
            if not encoded.endswith(ESCAPE, 0, lost):
                text = parse_json(encoded[lost + len(LOST) :])
                raise TypeError(unsendable.describe(name, text, args))
            lost = encoded.find(LOST, lost + 1)
        return encoded

    def wait(self, call):
        """Block until there is an answer. Either this thread reads it, or the reading thread delivers it."""
        call.wake = allocate_lock()
        call.wake.acquire()
        self.blocking[call.id] = call
        try:
            self.begin(call)
            while not call.is_done:
                if self.answers.is_interrupted():
                    raise HostFunctionError("a signal handler cannot call the host while its thread waits for an answer")
                if not self.answers.read_while(lambda: not call.is_done):
                    call.wake.acquire()
        finally:
            # An exception that a signal handler raises also ends the wait.
            self.calls.pop(call.id, None)
            self.blocking.pop(call.id, None)
            self.wake_reader()
        if call.error is not None:
            raise call.error
        return call.value

    def watch(self, loop):
        """Make the loop read when data arrives. The reader stays registered, because it does not keep a loop running."""
        if any(each is loop for each in self.loops):
            return
        with self.lock:
            self.loops = [each for each in self.loops if not each.is_closed()] + [loop]
        loop.add_reader(self.channel.descriptor, self.on_readable)

    def on_readable(self):
        # Another thread may be reading on this loop's behalf, or may have read since the loop woke.
        if self.answers.read_while(self.answers.is_there):
            self.wake_reader()
        if self.answers.is_closed:
            running_loop().remove_reader(self.channel.descriptor)

    def wake_reader(self):
        """Wakes one of the waiting threads to read, because no thread reads any more."""
        for call in list(self.blocking.values())[:1]:
            wake(call)

    def begin(self, call):
        with self.lock:
            self.calls[call.id] = call
            self.unsent.append(call)
            self.send_unsent()

    def send_unsent(self):
        """Send queued calls within the bounds. Beyond them the host would stop reading, and this thread would block."""
        while self.unsent and len(self.sent) < CALLS_AT_ONCE_MAX and self.sent_bytes < CALL_BYTES_AT_ONCE:
            call = self.unsent.popleft()
            if call.id not in self.calls:
                continue
            message, call.message = call.message, None
            size = len(message) if message.isascii() else len(message.encode("utf-8", "backslashreplace"))
            self.sent[call.id] = size
            self.sent_bytes += size
            self.channel.send(message)

    def take(self, answer):
        with self.lock:
            size = self.sent.pop(answer["id"], None)
            if size is None:
                return
            self.sent_bytes -= size
            call = self.calls.pop(answer["id"], None)
            self.send_unsent()
        if call is None:
            return
        if answer["type"] == "throw":
            call.error = HostFunctionError(answer["error"]["message"], answer["error"]["name"])
        else:
            call.value = answer["value"]
        finish(call)

    def close(self):
        """The host or guest code has closed the descriptor."""
        with self.lock:
            calls = list(self.calls.values())
            self.calls.clear()
        for call in calls:
            call.error = HostFunctionError(NO_ANSWER)
            finish(call)


def running_loop():
    # A loop can run only if this module was imported.
    events = sys.modules.get("asyncio.events")
    return events._get_running_loop() if events is not None else None


def is_small(value):
    kind = type(value)
    if kind is str:
        return len(value) <= SMALL_MAX
    return kind in leaves.SCALARS and (kind is not int or -SMALL_MAX <= value <= SMALL_MAX)


def wake(call):
    try:
        call.wake.release()
    except RuntimeError:
        # Another thread has just released it.
        pass


def finish(call):
    call.is_done = True
    if call.wake is not None:
        wake(call)
    elif call.thread == get_ident():
        settle(call)
    else:
        try:
            call.loop.call_soon_threadsafe(settle, call)
        except RuntimeError:
            # The loop is closed, so no task waits.
            pass


def settle(call):
    # Cancelled, or its loop has ended.
    if call.future.done() or call.loop.is_closed():
        return
    if call.error is None:
        call.future.set_result(call.value)
    else:
        call.future.set_exception(call.error)
