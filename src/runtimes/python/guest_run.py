"""One run, from the request to the end of the program.

`main` consists of the steps that `guest_stage.py` performs. It ends by returning or by raising SystemExit: the interpreter then waits for non-daemon threads, calls `atexit`
functions and flushes, in its usual order. After a program that has completed, `end_early` does the same and reports the end.
"""

import atexit
import builtins
import gc
import os
import sys
from _functools import partial

CODE_NAME = "<code>"
# The variable for the value of a program that is compiled as a whole. No program can name it.
VALUE_NAME = "<value>"
CHANNEL_DESCRIPTOR = 3
# CO_COROUTINE of `inspect`, a module that is too large to import for one number.
COROUTINE_FLAG = 0x80
# A shell's exit code for a program that Ctrl-C ended.
INTERRUPTED_EXIT_CODE = 130
# Numbers up to this size and texts up to this length do not need the encoder.
SMALL_MAX = 1000
# Room for the error report, the `traceback` module included.
RESERVE_BYTES = 4 * 1024 * 1024

# Taken before guest code can replace them.
exit_process, getpid, collect_garbage, run_exit_functions = os._exit, os.getpid, gc.collect, atexit._run_exitfuncs
FunctionType = type(lambda: None)
initial_streams, initial_modules, module_type = (sys.stdout, sys.stderr), sys.modules.copy(), type(sys)
get_recursion_limit, set_recursion_limit = sys.getrecursionlimit, sys.setrecursionlimit
set_trace, set_profile = sys.settrace, sys.setprofile
initial_recursion_limit = get_recursion_limit()
type_name_of = type.__dict__["__name__"].__get__
workspace = os.getcwd()
# The program's `__file__`. It does not exist: the workspace has only the request's files.
code_file = workspace + os.sep + CODE_NAME
# Modules in the workspace are the guest's own, even if `PYTHONPATH` names their folder.
library_folders = tuple(folder + os.sep for folder in program_path if not (folder + os.sep).startswith(workspace + os.sep))


def main():
    channel = load("channel").Channel(CHANNEL_DESCRIPTOR)
    request = channel.receive()
    if "park" in request:
        request = load("parked").wait_for_request(channel, request)
    if "context" in request:
        yield from load("context").serve(channel, request)
        return
    os.environ.update(request.pop("env", {}))
    compiler = load("compile")
    source = compiler.normalize(request["code"])
    reporter = Reporter(channel, source, request)
    guest_names = prepare_interpreter(request, source, reporter)
    try:
        program = load("watch").compile_watched(compiler.compile_program, source)
    except BaseException as error:
        reporter.end_with_error("syntax", error)
    try:
        results, error = yield prepare_calls(program, guest_names)
        if error is not None:
            raise error
        reporter.report_value(read_value(program, results, guest_names))
        # An empty turn, after which neither this function nor the stage holds the value.
        results = yield ()
    except SystemExit:
        raise
    except BaseException as error:
        reporter.end_with_error("run", error)
    end_early(channel, guest_names)


def end_early(channel, guest_names):
    """Do everything at the interpreter's end that a program can observe, in the same order, then report the end.

    Only tearing down the modules, which takes longer the more there are, and the exit of the process remain.
    """
    if getpid() != channel.process:
        return
    try:
        if "threading" in sys.modules:
            sys.modules["threading"]._shutdown()
        run_exit_functions()
        for names in (guest_names, *own_modules()):
            for name in sorted((name for name in names if isinstance(name, str)), key=is_public):
                names[name] = None
        collect_garbage()
        for stream in (sys.stdout, sys.stderr, *initial_streams):
            if stream is not None and not stream.closed:
                stream.flush()
    except BaseException:
        # The program has replaced something that this code calls, or a flush failed, after which the interpreter exits
        # with another code. So the interpreter itself does the rest.
        return
    channel.send('{"type":"end","exitCode":0}')
    exit_process(0)


def own_modules():
    """The namespaces of the guest's own modules, the last imported first. They may hold files with unflushed data."""
    modules = []
    # Only the new ones, which are last, because in a fork each access to a module copies a page.
    for name in reversed(sys.modules):
        if initial_modules.get(name) is sys.modules[name]:
            break
        modules.append(sys.modules[name])
    for module in modules:
        # `sys.modules` may hold any object, and a module's own `__getattr__` may do anything.
        names = module.__dict__ if type(module) is module_type else {}
        file = names.get("__file__")
        if names and not (type(file) is str and file.startswith(library_folders)):
            yield names


def is_public(name):
    """Whether a name is cleared late: the interpreter clears names with one leading underscore first."""
    return not (name[:1] == "_" and name[1:2] != "_")


def prepare_interpreter(request, source, reporter, folder=workspace):
    """Make the interpreter look as if it had been started for the guest's program; return its globals."""
    guest_main = type(sys)("__main__")
    sys.modules["__main__"] = guest_main
    sys.argv = [CODE_NAME, *request["args"]]
    prepare_path((folder,))
    # A run's workspace is new: bytecode files would only cost time and appear among the collected files.
    sys.dont_write_bytecode = True
    # stdout is a pipe, for which Python buffers 8 KiB: output of a killed program would be lost, and lines would appear
    # after later lines of stderr. With a flush per line, a print takes 1.7 µs instead of 0.5 (measured with 200,000 short
    # lines). Unbuffered (`-u`) it takes 4.1 µs, with one write for each argument of print.
    if sys.stdout is not None:
        sys.stdout.reconfigure(line_buffering=True)

    builtins.display = reporter.display = create_display(reporter)
    builtins.update_display, builtins.clear_output = reporter.update_display, reporter.clear_output
    names = guest_main.__dict__
    names.update(__builtins__=builtins, __file__=code_file, __cached__=None)
    names.update(__annotations__={}, input_data=request.get("input"))
    load("watch").watch(reporter)
    if "functions" in request:
        load("functions").install(request, reporter.channel, names)
    return names


def create_display(reporter):
    def display(*objects, include=None, exclude=None, raw=False, display_id=None, update=False, **_others):
        """Show objects in the run's result, each in the formats that it offers. With `raw`, they are MIME bundles.

        With a `display_id`, or True for a new one, it returns a handle, whose `update()` replaces what was shown.
        """
        if display_id is None and not update:
            reporter.show(objects, include, exclude, raw)
            return None
        if display_id is None:
            raise TypeError("display_id is required when update=True")
        part = load("display")
        if display_id is True:
            display_id = os.urandom(16).hex()
        reporter.show(objects, include, exclude, raw, part.Place(display_id, bool(update)))
        return None if update else part.DisplayHandle(display_id, display)

    def update_display(value, *, display_id, **options):
        """Replace what was shown with this id."""
        display(value, display_id=display_id, **{**options, "update": True})

    reporter.update_display = update_display
    reporter.clear_output = lambda wait=False: reporter.clear(wait)
    return display


def prepare_path(own_folders):
    """The program's own folder comes first, as after `python3 program.py`."""
    # Without isolated mode, Python itself has put the harness's folder there.
    sys.path[:] = program_path[1:] if program_path[:1] == [harness_folder] else program_path
    if sys.flags.isolated or not getattr(sys.flags, "safe_path", False):
        sys.path[:0] = own_folders


def prepare_calls(program, guest_names):
    """The functions that run the program, with its code as their own."""
    if is_awaiting(program):
        from asyncio import run

        return (partial(run, create_coroutine(program, guest_names)),)
    return tuple(FunctionType(code, guest_names) for code in program if code is not None)


def is_awaiting(program):
    return program[0].co_flags & COROUTINE_FLAG != 0


def create_coroutine(program, guest_names):
    """For code with a top-level `await`: all of it runs inside one event loop."""
    return FunctionType(program[0], guest_names)()


def read_value(program, results, guest_names):
    """The value of the final expression: a result of its own, or in a variable."""
    return guest_names.pop(VALUE_NAME, None) if program[1] is None else results[-1]


class Reporter:
    """Reports the result of the program to the host."""

    code_name = CODE_NAME
    # The sources of programs whose lines tracebacks show, by the name under which each was compiled.
    sources = {}

    def __init__(self, channel, source, request):
        self.channel = channel
        self.source = source
        # For processes that run the same program, as `multiprocessing` starts them.
        self.input = request.get("input")
        self.function_names = request.get("functions", {}).get("names", ())
        self.result_bytes = request["resultBytes"]
        self.displays = None
        # Released when memory has run out, to make room for the report. `bytes` does not touch its memory (`bytearray`
        # would), so it takes only address space.
        self.reserve = bytes(RESERVE_BYTES)

    def report_value(self, value):
        regain_interpreter()
        if value is None:
            return
        small = write_small(value) if self.result_bytes > 8 * SMALL_MAX else None
        if small is not None:
            self.send_value(small, repr(value), False)
            return
        text = load("text").describe(value)
        encoded, truncated = load("values").encode(value, text, self.result_bytes)
        self.send_value(encoded, text, truncated)
        if load("text").is_rich(value):
            self.open_displays().show_value(value)

    def send_value(self, encoded, text, truncated):
        flag = "true" if truncated else "false"
        text = load("channel").quote(text)
        self.channel.send(f'{{"type":"value","value":{encoded},"text":{text},"truncated":{flag}}}')

    def show(self, objects, include=None, exclude=None, raw=False, place=None):
        for each in objects:
            self.open_displays().show(each, include, exclude, raw, place)

    def clear(self, wait):
        self.open_displays().clear(bool(wait))

    def open_displays(self):
        if self.displays is None:
            self.displays = load("display").Displays(self.channel, self.result_bytes)
        return self.displays

    def end_with_error(self, phase, error):
        """Report to the host and on stderr, and end as Python would."""
        self.reserve = None
        regain_interpreter()
        exit_code = INTERRUPTED_EXIT_CODE if type(error) is KeyboardInterrupt else 1
        try:
            load("errors").report(self.channel, phase, error)
        except SystemExit:
            raise
        except BaseException:
            # Not even that module could be loaded, but the host still gets a report.
            name = load("channel").quote(type_name_of(type(error)))
            self.channel.send(f'{{"type":"error","phase":"{phase}","error":{{"name":{name},"message":""}}}}')
        raise SystemExit(exit_code) from None


def write_small(value):
    """The JSON of most values, without loading the encoder, which takes milliseconds. None for all other values."""
    kind = type(value)
    if kind is str and len(value) <= SMALL_MAX:
        return load("channel").quote(value)
    if kind is bool:
        return "true" if value else "false"
    # Zero may be negative, which JSON cannot express for an integer.
    if kind is int or kind is float and value != 0:
        return repr(value) if -SMALL_MAX <= value <= SMALL_MAX else None
    return None


def regain_interpreter():
    """Undo changes of the guest that would keep the harness from working."""
    set_trace(None)
    set_profile(None)
    if get_recursion_limit() < initial_recursion_limit:
        set_recursion_limit(initial_recursion_limit)
