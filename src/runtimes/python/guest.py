"""The part of the `python` runtime inside the cell: it runs one program and reports on descriptor 3.

This file only loads the `guest_*.py` files beside it; `guest_run.py` has the steps of a run. The protocol is
in `channel-protocol.ts`, the value encoding in docs/guide/values.md. Nothing here is a wall: guest code can reach all of
it through frames and `gc`, but gains nothing except other claims about itself. The kernel is the wall.
"""

import sys

if __name__ == "__main__":
    # The operator's packages: after the standard library, which the harness needs, and before other packages.
    sys.path[:] = [folder for folder in sys.path if folder not in sys.argv[1:]]
    own = (at for at, path in enumerate(sys.path) if path.endswith(("site-packages", "dist-packages")))
    at = next(own, len(sys.path))
    sys.path[at:at] = sys.argv[1:]

# PYTHONPATH of the request is only for its program: nothing there may replace a module that the harness needs.
program_path = sys.path[:]
if __name__ == "__main__" and not sys.flags.isolated:
    sys.path[:] = [folder for folder in sys.path if folder.startswith((sys.base_prefix, sys.base_exec_prefix))]

import binascii
import builtins
import os

PARTS = (
    *("channel", "stage", "run", "watch", "errors", "values", "leaves", "arrays", "inputs", "text", "display"),
    *("imports", "hooks", "figures", "spawned", "suggestions", "kinds", "origins", "singles", "parked"),
)
# Warnings leave out the frames of the import system, which they recognize by these words in the name of the file. They would
# name the harness where it drops the last reference to something of the guest.
FRAMES_HIDDEN = " importlib._bootstrap"


def create_loader():
    """Return `load(part)`, which compiles a sibling on first use and keeps it out of `sys.modules`."""
    folder = os.path.dirname(os.path.abspath(__file__))
    # Read now, because after the guest has used up its descriptors no file can be opened. Compiled on demand, because
    # compiling all of them takes milliseconds of every start.
    sources = {part: read_part(folder, part) for part in PARTS}
    run_code, compile_source, module_type, import_any = exec, compile, type(sys), __import__
    # `sys` is the live module, because guests may replace its streams and hooks.
    modules = {"binascii": copy_module(binascii), "os": copy_module(os), "sys": sys, "builtins": builtins}
    loaded = {}

    def import_module(name, *options):
        return modules[name] if name in modules else import_any(name, *options)

    # Copied before guest code runs: a guest that replaces `builtins.len` or `sys.modules["os"]` does not affect the harness.
    own_builtins = dict(vars(builtins), __import__=import_module)

    def load(part):
        if part not in loaded:
            # The other parts are loaded for requests that need them, before guest code runs.
            path, source = sources.get(part) or read_part(folder, part)
            module = module_type("guest_" + part)
            names = module.__dict__
            names.update(__builtins__=own_builtins, load=load, harness_folder=folder, program_path=program_path)
            run_code(compile_source(source, path + FRAMES_HIDDEN, "exec", dont_inherit=True), names)
            loaded[part] = module
        return loaded[part]

    return load


def read_part(folder, part):
    path = folder + "/guest_" + part + ".py"
    with open(path, "rb") as file:
        return path, file.read()


def copy_module(module):
    copied = type(sys)(module.__name__)
    copied.__dict__.update(vars(module))
    return copied


if __name__ == "__main__":
    load = create_loader()
    raise load("stage").begin(load("run").main())
elif __name__ != "guest_zygote":
    # `multiprocessing` starts the program again in its own process, from a file that `guest_spawned.py` wrote.
    create_loader()("spawned").run_again(*spawned_program)
