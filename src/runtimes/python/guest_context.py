"""A code context: one interpreter that runs many entries, one after another, in the same namespace.

The host sends each entry as a message, and gets `end` when it is over. SIGINT raises KeyboardInterrupt in the entry that
runs, and does nothing between two of them.
"""

import builtins
import os
import signal
import sys
from _functools import partial
from itertools import count

stage_part = load("stage")
run_part, watch_part, functions, compiler = load("run"), load("watch"), load("functions"), load("compile")
fork_part = load("fork")
complete_part = load("complete")
load("ask")
HostFunctionError = load("host_error").HostFunctionError
# The name by which `input()` calls the host. No function of the caller can have it.
INPUT = "input()"
# This many lines of earlier entries are kept for tracebacks.
SOURCE_CHARACTERS_MAX = 8 * 1024 * 1024
INTERRUPTED_EXIT_CODE = run_part.INTERRUPTED_EXIT_CODE


class Inbox(functions.Caller):
    """The only reader of the channel, for both answers to calls and entries."""

    def __init__(self, channel, argument_bytes):
        super().__init__(channel, 0, argument_bytes)
        self.entries = []

    def take(self, answer):
        if "code" in answer or "fork" in answer or "complete" in answer:
            self.entries.append(answer)
        elif "id" in answer:
            super().take(answer)

    def next_entry(self):
        """Wait for the next entry. Returns None if the host has closed the channel."""
        while not self.entries and not self.answers.is_closed:
            self.answers.read_while(lambda: not self.entries and not self.answers.is_closed)
        return self.entries.pop(0) if self.entries else None

    def begin_entry(self, calls_max):
        """End the unanswered calls of earlier entries."""
        with self.lock:
            stale = list(self.calls.values())
            self.calls.clear()
            self.sent.clear()
            self.sent_bytes = 0
            self.unsent.clear()
        for call in stale:
            call.error = HostFunctionError("the entry that made this call has ended")
            functions.finish(call)
        self.calls_max = next(self.ids) + calls_max

    def ask(self, prompt):
        """Return the caller's answer to `input()`. Blocks, whether or not an event loop runs."""
        call_id = next(self.ids)
        encoded = self.encode(INPUT, (prompt,))
        name = functions.quote(INPUT)
        return self.wait(functions.Call(call_id, f'{{"type":"call","id":{call_id},"name":{name},"args":{encoded}}}'))


class Context:
    """The run as `watch` expects it: the current entry, and everything that persists between entries."""

    def __init__(self, channel, request):
        self.channel = channel
        self.result_bytes = request["resultBytes"]
        self.inbox = Inbox(channel, self.result_bytes)
        self.numbers = count(1)
        self.sources = {}
        self.code_name, self.source = run_part.CODE_NAME, ""
        # For processes that `multiprocessing` spawns: they get the names, but do not run the entries again.
        self.input, self.function_names = None, ()
        self.reporter = None
        self.is_running = False
        # Whether an interrupt has arrived where it could not be raised.
        self.is_interrupted = False
        self.future_flags = 0
        self.loop = None
        # Event loops of the context that this one is a fork of.
        self.abandoned = []
        self.asks = False

    def show(self, *args):
        self.reporter.show(*args)

    def clear(self, wait):
        self.reporter.clear(wait)

    def begin(self, entry):
        self.code_name = f"<code {next(self.numbers)}>"
        self.source = compiler.normalize(entry["code"])
        self.sources[self.code_name] = self.source
        while len(self.sources) > 1 and sum(map(len, self.sources.values())) > SOURCE_CHARACTERS_MAX:
            del self.sources[next(iter(self.sources))]
        self.reporter = run_part.Reporter(self.channel, self.source, {"resultBytes": self.result_bytes})
        self.asks = entry.get("asks", False)
        for name, value in entry.get("variables", {}).items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        self.inbox.begin_entry(entry.get("callsMax", 0))
        # So that `import` finds files that commands have written since.
        for finder in list(sys.meta_path):
            if hasattr(finder, "invalidate_caches"):
                finder.invalidate_caches()
        if "linecache" in sys.modules:
            load("imports").tell("linecache", sys.modules["linecache"])


def serve(channel, request):
    context = Context(channel, request)
    try:
        os.chdir(request["folder"])
    except OSError as error:
        send_refusal(channel, f"Failed to change directory to {request['folder']}: {error.strerror}")
        send_end(channel, 1)
        return
    names = prepare(context, request)
    signal.signal(signal.SIGINT, lambda _signal, frame: interrupt(context, frame))
    send_end(channel, 0)
    while True:
        entry = context.inbox.next_entry()
        if entry is None:
            run_part.exit_process(0)
        if "fork" in entry:
            fork_part.split(context, send_end)
            continue
        if "complete" in entry:
            complete_part.answer(context, names, entry["complete"])
            send_end(channel, 0)
            continue
        exit_code = yield from run_entry(context, names, entry)
        # An empty turn, after which the stage holds neither the value nor the error of this one.
        yield ()
        if run_part.getpid() != channel.process:
            # A process that the entry forked, at the end of the entry.
            run_part.exit_process(exit_code)
        send_end(channel, exit_code)


def prepare(context, request):
    names = run_part.prepare_interpreter({"args": []}, "", context, os.getcwd())
    del names["input_data"]
    builtins.input = load("ask").create_input(context)
    if "functions" in request:
        functions.provide(request["functions"]["names"], context.inbox, names)
    return names


def interrupt(context, frame):
    if context.is_running:
        if stage_part.may_raise(frame):
            raise KeyboardInterrupt
        context.is_interrupted = True


def run_entry(context, names, entry):
    """Run it and report everything but its end to the host. Returns its exit code."""
    exit_code = 1
    try:
        try:
            context.begin(entry)
            context.is_interrupted = False
            context.is_running = True
            exit_code = yield from run_source(context, names)
            context.is_running = False
        finally:
            context.is_running = False
            run_part.regain_interpreter()
            flush_streams()
    except KeyboardInterrupt as error:
        # The interrupt arrived between two steps of the harness.
        report_error(context, "run", error)
        exit_code = INTERRUPTED_EXIT_CODE
    return exit_code


def run_source(context, names):
    phase = "syntax"
    try:
        program = watch_part.compile_watched(lambda source: compile_entry(context, source), context.source)
        phase = "run"
        task = create_task(context, program, names) if run_part.is_awaiting(program) else None
        results, error = yield run_part.prepare_calls(program, names) if task is None else (await_in(context, task),)
        if task is not None and type(error) is KeyboardInterrupt:
            error = end_interrupted(context, task, error)
        # An interrupt that arrived on the way to the code or back.
        if error is None and context.is_interrupted:
            error = KeyboardInterrupt()
        if error is not None:
            raise error
        tell_value(context, run_part.read_value(program, results, names))
        show_figures()
        return 0
    except SystemExit as ending:
        return read_exit_code(ending.code)
    except BaseException as error:
        context.is_running = False
        report_error(context, phase, error)
        return INTERRUPTED_EXIT_CODE if type(error) is KeyboardInterrupt else 1


def compile_or_translate(context, source):
    """Compile; a line that the compiler refuses may be one of a notebook."""
    refused = None
    for _line in range(source.count("\n") + 2):
        try:
            return compiler.compile_program(source, context.code_name, context.future_flags)
        except SyntaxError as error:
            # What is wrong with the code as written.
            refused = refused or error
            translated = load("notebook").translate(source, error)
            if translated is None:
                raise
            source = translated
    raise refused


def compile_entry(context, source):
    program = compile_or_translate(context, source)
    context.future_flags |= program[0].co_flags & compiler.FUTURE_FLAGS
    return program


def tell_value(context, value):
    if value is not None:
        builtins._ = value
    context.reporter.report_value(value)


def create_task(context, program, names):
    """A task of the context's own event loop, in which tasks of earlier entries continue meanwhile."""
    import asyncio

    if context.loop is None or context.loop.is_closed():
        context.loop = asyncio.new_event_loop()
    asyncio.set_event_loop(context.loop)
    return context.loop.create_task(run_part.create_coroutine(program, names))


def await_in(context, task):
    return partial(context.loop.run_until_complete, task)


def end_interrupted(context, task, error):
    """The interrupt ended the loop at some point, and the entry's own task has not ended yet."""
    import asyncio

    task.cancel()
    context.loop.run_until_complete(asyncio.wait([task], timeout=0.25))
    if task.done() and not task.cancelled():
        task.exception()
    # If the task was only waiting, the traceback has no lines of the guest to show.
    return error if has_lines(context, error) else KeyboardInterrupt()


def has_lines(context, error):
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename not in context.sources:
        trace = trace.tb_next
    return trace is not None


def show_figures():
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None and hasattr(pyplot, "get_fignums"):
        load("figures").show_new_figures(pyplot)


def read_exit_code(code):
    if code is None:
        return 0
    if isinstance(code, int):
        # What does not fit into a C long is -1, as at the end of an interpreter.
        return code & 0xFF if -(2**63) <= code < 2**63 else 0xFF
    try:
        print(code, file=sys.stderr)
    except Exception:
        pass
    return 1


def report_error(context, phase, error):
    context.reporter.reserve = None
    run_part.regain_interpreter()
    try:
        load("errors").report(context.channel, phase, error)
    except SystemExit:
        pass
    except BaseException:
        send_refusal(context.channel, "", run_part.type_name_of(type(error)), phase)


def send_refusal(channel, text, name="Error", phase="run"):
    quote = load("channel").quote
    error = f'{{"name":{quote(name)},"message":{quote(text)}}}'
    channel.send(f'{{"type":"error","phase":"{phase}","error":{error}}}')


def send_end(channel, exit_code):
    channel.send(f'{{"type":"end","exitCode":{exit_code}}}')


def flush_streams():
    for stream in (sys.stdout, sys.stderr, *run_part.initial_streams):
        try:
            if stream is not None and not stream.closed:
                stream.flush()
        except Exception:
            # The stream is the guest's own, or closed.
            pass
