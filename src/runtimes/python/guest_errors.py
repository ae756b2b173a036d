"""Uncaught exceptions: the report to the host, and the traceback on stderr.

A traceback shows the guest's own frames. Frames of the harness and of the interpreter's library are omitted: they are not
the guest's code, and their paths belong to the host.
"""

import sys
from os import write

# The protocol bounds a stack like every text. A message has a lower bound, so that name and position always fit.
STACK_LENGTH_MAX = 64 * 1024
MESSAGE_LENGTH_MAX = 16 * 1024
FRAMES_MAX = 50
# For these, Python 3.10 and 3.11 suggest other spellings, but only when the interpreter itself prints the error.
SUGGESTED_FOR = (NameError, AttributeError)

run_part, text_part, watch_part = load("run"), load("text"), load("watch")
quote, type_name = load("channel").quote, text_part.type_name
traceback_of = BaseException.__dict__["__traceback__"].__get__
source_lines = []


def report(channel, phase, error):
    """Report the error to the host, then print it. The host gets a report even if something here fails."""
    try:
        if type(error) is MemoryError:
            release_locals(error)
        text = format_safely(error, traceback_of(error))
        channel.send(write_message(phase, error, text))
    except BaseException:
        text = f"{type_name(error)}\n"
        channel.send(f'{{"type":"error","phase":"{phase}","error":{{"name":{quote(text.strip())},"message":""}}}}')
    print_error(error, text)


def release_locals(error):
    """Release what the failed functions held; otherwise there may be too little memory for the report."""
    trace = traceback_of(error)
    while trace is not None:
        try:
            trace.tb_frame.clear()
        except RuntimeError:
            # A frame that still runs keeps its variables.
            pass
        trace = trace.tb_next


def write_message(phase, error, text):
    fields = {"name": quote(type_name(error)), "message": quote(message_of(error)), "stack": quote(cut(text))}
    fields.update((key, str(number)) for key, number in find_place(phase, error) if number is not None)
    if phase == "syntax" and isinstance(error, SyntaxError):
        fields["message"] = quote(str(error.msg))
    content = ",".join(f'"{key}":{value}' for key, value in fields.items())
    return f'{{"type":"error","phase":"{phase}","error":{{{content}}}}}'


def find_place(phase, error):
    """Line and column in the code, both from 1: of the mistake, or of the innermost call made from the code."""
    if phase == "syntax":
        line, column = getattr(error, "lineno", None), getattr(error, "offset", None)
        return ("line", line or None), ("column", column if column and column > 0 else None)
    trace, inner = traceback_of(error), None
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == watch_part.running.code_name:
            inner = trace
        trace = trace.tb_next
    if inner is None:
        return ()
    return ("line", inner.tb_lineno), ("column", find_column(inner))


def find_column(trace):
    """The column, which Python knows from 3.11 on."""
    code = trace.tb_frame.f_code
    if not hasattr(code, "co_positions"):
        return None
    positions = list(code.co_positions())[trace.tb_lasti // 2]
    if positions[2] is None or positions[0] != trace.tb_lineno:
        return None
    # The compiler counts columns in UTF-8 bytes.
    line = source_lines[trace.tb_lineno - 1].encode("utf-8", "backslashreplace")
    return len(str(line[: positions[2]], "utf-8", "ignore")) + 1


def message_of(error):
    try:
        # An exact str, even if `__str__` returned a subclass.
        return str.__str__(str(error))[:MESSAGE_LENGTH_MAX]
    except BaseException:
        return f"<{type_name(error)} whose message cannot be shown>"


def cut(text):
    """Shortens a text that is too long to its beginning and its end."""
    if len(text) <= STACK_LENGTH_MAX // 4:
        return text
    half = STACK_LENGTH_MAX // 8
    return text[:half] + "\n…\n" + text[-half:]


def describe_error(error):
    """(name, message, stack or None) of an exception that is a value."""
    if traceback_of(error) is None:
        return type_name(error), message_of(error), None
    return type_name(error), message_of(error), cut(format_safely(error, traceback_of(error)))


def format_safely(error, trace, chain=True):
    """What the interpreter would print, but only with the guest's own frames."""
    try:
        source_lines[:] = watch_part.running.source.split("\n")
        return format_error(error, trace, chain)
    except BaseException:
        # Out of descriptors, memory or stack, or the guest has patched an imported module.
        return format_plainly(error, trace)


def format_error(error, trace, chain):
    from traceback import StackSummary, TracebackException

    # The lines are in `linecache` since its import, unless the guest has cleared the cache.
    load("imports").tell("linecache", sys.modules["linecache"])
    formatted = TracebackException(type(error), error, trace)
    parts = list_parts(formatted)
    # An error without any guest frame is shown with all its frames, because otherwise it would have none.
    is_shown = is_guest_file if any(list_frames(each, is_guest_file) for each in parts) else is_not_harness
    for each in parts:
        frames = list_frames(each, is_shown)
        each.stack = StackSummary.from_list(frames) if frames else None
        # Later stages of the compiler take the line from a file with that name.
        line, name = getattr(each, "lineno", None), getattr(each, "filename", None)
        is_own = name == watch_part.running.code_name
        if is_own and not each.text and line and int(line) <= len(source_lines):
            each.text = source_lines[int(line) - 1] + "\n"
    if (3, 10) <= sys.version_info < (3, 12) and any(issubclass(each.exc_type, SUGGESTED_FOR) for each in parts):
        load("suggestions").suggest(error, trace, parts)
    return "".join(formatted.format(chain=chain))


def list_parts(formatted):
    """The exception, its causes and the members of its groups."""
    parts, pending = {}, [formatted]
    while pending:
        each = pending.pop()
        if each is not None and id(each) not in parts:
            parts[id(each)] = each
            pending += [each.__cause__, each.__context__, *(getattr(each, "exceptions", None) or ())]
    return list(parts.values())


def list_frames(part, is_shown):
    return [frame for frame in part.stack or () if is_shown(frame.filename)]


def is_guest_file(name):
    return not name.startswith((harness_folder, "<frozen ", *run_part.library_folders))


def is_not_harness(name):
    return not name.startswith(harness_folder)


def format_plainly(error, trace):
    """A simpler traceback that imports nothing: without causes."""
    frames = []
    while trace is not None:
        code, line = trace.tb_frame.f_code, trace.tb_lineno
        if is_guest_file(code.co_filename):
            frames.append(f'  File "{code.co_filename}", line {line}, in {code.co_name}\n')
            if code.co_filename == watch_part.running.code_name and 0 < line <= len(source_lines):
                frames.append(f"    {source_lines[line - 1].strip()}\n")
        trace = trace.tb_next
    head = ["Traceback (most recent call last):\n"] if frames else []
    message = message_of(error)
    return "".join(head + frames[-FRAMES_MAX:]) + type_name(error) + (f": {message}" if message else "") + "\n"


def print_error(error, text):
    """Print the error as the interpreter would: after flushing stdout, and with the guest's own hook if there is one."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except BaseException:
        # The guest may have replaced stdout.
        pass
    try:
        if sys.excepthook is not watch_part.show_exception:
            sys.excepthook(type(error), error, strip_harness(traceback_of(error)))
            return
    except SystemExit:
        raise
    except BaseException as hook_error:
        text = f"Error in sys.excepthook: {type_name(hook_error)}: {message_of(hook_error)}\n{text}"
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except BaseException:
        write_descriptor(text)


def strip_harness(trace):
    first = trace
    while first is not None and not is_guest_file(first.tb_frame.f_code.co_filename):
        first = first.tb_next
    return first or trace


def write_descriptor(text):
    try:
        write(2, text.encode("utf-8", "backslashreplace"))
    except OSError:
        # There is no stderr any more, and the host already has the report.
        pass
