"""Supports processes that `multiprocessing` starts anew (`spawn`, `forkserver`) instead of forking them.

Such a process runs the file of the main module again under the name `__mp_main__`. The guest's program has no file, so one
is written for it. That file starts the harness, which runs the program with the same names, source lines and input.
"""

import builtins
import os
import sys
from _ast import PyCF_ONLY_AST

watch_part, run_part = load("watch"), load("run")


class Again:
    """The run, as `watch` expects it, in a process that reports nothing to the host."""

    code_name = run_part.CODE_NAME
    sources = {}

    def __init__(self, source, given, file):
        self.source, (self.input, self.function_names), self.file = source, given, file
        # As in forked processes, whose displays are not sent.
        self.display = lambda *_objects, **_options: None


def prepare_parent(spawn):
    """Create the file only when a process is prepared, because nothing needs it before."""
    ask = spawn.get_preparation_data

    def get_preparation_data(name):
        data = ask(name)
        if data.get("init_main_from_path") == run_part.code_file:
            data["init_main_from_path"] = provide_file(watch_part.running)
        return data

    spawn.get_preparation_data = get_preparation_data


def provide_file(run):
    if getattr(run, "file", None) is None:
        from tempfile import mkstemp

        descriptor, run.file = mkstemp(prefix="program-", suffix=".py")
        with open(descriptor, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(write_program(run))
    return run.file


def write_program(run):
    from pickle import dumps

    harness = harness_folder + "/guest.py"
    program = f"(globals(), __file__, {ascii(run.source)}, {dumps((run.input, run.function_names))!r})"
    names = f'{{"__name__": "spawned", "__file__": {harness!r}, "spawned_program": {program}}}'
    return f"exec(compile(open({harness!r}).read(), {harness!r}, 'exec'), {names})\n"


def run_again(names, file, source, pickled):
    """In the new process: run the program in `names`, the namespace of its main module."""
    from pickle import loads

    again = Again(source, loads(pickled), file)
    builtins.display = again.display
    sys.dont_write_bytecode = True
    if sys.stdout is not None:
        sys.stdout.reconfigure(line_buffering=True)
    watch_part.watch(again)
    names.update(__file__=run_part.code_file, __annotations__={}, input_data=again.input)
    if again.function_names:
        functions = load("functions")
        functions.provide(again.function_names, functions.Elsewhere, names)
    compiler = load("compile")
    program = compiler.compile_part(compiler.compile_part(source, "exec", PyCF_ONLY_AST), "exec", 0)
    if program.co_flags & run_part.COROUTINE_FLAG:
        from asyncio import run

        run(run_part.create_coroutine((program, None), names))
    else:
        exec(program, names)
