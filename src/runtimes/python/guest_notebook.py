"""Lines that people type in notebooks: `!command`, `%magic`, `name?`, and cells that begin with `%%magic`.

None of them is Python, so nothing is translated until the compiler refuses the code, and then only the line that it refuses.
Text in strings, and `%` or `!` in expressions, stay as they are.
"""

import builtins
import os
import re
import sys

# The built-in that translated lines call.
NAME = "__notebook__"
LINE = re.compile(r"(?P<indent>\s*)(?:(?P<target>[\w., ]+?)\s*=\s*(?=[!%]))?(?P<mark>!!?|%|\?\??)(?P<text>[^\s=].*)", re.S)
HELP = re.compile(r"(?P<indent>\s*)(?P<text>[\w.]+)\?\??\s*")
SHELL_WORDS = frozenset(("cat", "cp", "head", "ls", "mkdir", "mv", "rm", "rmdir", "tail"))
# What only changes how a notebook looks or loads code.
IGNORED = frozenset(("autoreload", "config", "load_ext", "matplotlib", "pylab", "reload_ext"))
NO_PACKAGE = "pip needs a network policy that allows its registry; packages can also come from an environment or `packages`."


def translate(source, error):
    """The source without the line that the compiler refused, or None if that is no line of a notebook."""
    builtins.__dict__.setdefault(NAME, Notebook())
    lines = source.split("\n")
    first = next((at for at, line in enumerate(lines) if line.strip()), 0)
    if lines[first].startswith("%%"):
        name, _space, options = lines[first][2:].strip().partition(" ")
        body = "\n".join(lines[first + 1 :])
        return "\n" * first + write_call("cell", name, options, body)
    at = (error.lineno or 0) - 1
    if not 0 <= at < len(lines):
        return None
    end = at + 1
    while end < len(lines) and lines[end - 1].endswith("\\"):
        end += 1
    text = "\n".join(lines[at:end])
    found, mark = LINE.fullmatch(text), None
    if found is None:
        found, mark = HELP.fullmatch(text), "?"
    if found is None:
        return None
    fields = found.groupdict()
    mark, target = mark or fields["mark"], fields.get("target")
    if mark[0] == "!":
        call = write_call("read" if target or mark == "!!" else "system", fields["text"])
    else:
        call = write_call("line" if mark == "%" else "help", fields["text"])
    lines[at:end] = [fields["indent"] + (f"{target} = " if target else "") + call] + [""] * (end - at - 1)
    return "\n".join(lines)


def write_call(method, *texts):
    return f"{NAME}.{method}({', '.join(map(ascii, texts))})"


class Notebook:
    def system(self, command):
        """`!command`: its output is output of the code. Its exit code is in `_exit_code`."""
        names = names_of_caller()
        code = run_shell(expand(command, names))
        names["_exit_code"] = code
        if code != 0 and re.match(r"(\S*python[\d.]* -m )?pip[\d.]* install", command):
            tell(NO_PACKAGE)

    def read(self, command):
        """`lines = !command`"""
        from subprocess import PIPE, run

        done = run(**shell_options(expand(command, names_of_caller())), stdout=PIPE, text=True)
        return done.stdout.splitlines()

    def help(self, name):
        """`name?`"""
        import inspect
        from pydoc import plain, render_doc

        try:
            value = eval(name.strip("?"), names_of_caller())
        except NameError:
            print(f"Object `{name.strip('?')}` not found.")
            return
        if callable(value) or inspect.ismodule(value):
            print(plain(render_doc(value, title="%s")))
        else:
            print(f"Type: {type(value).__name__}\nValue: {value!r}\n{inspect.getdoc(value) or ''}")

    def line(self, text):
        """`%magic`"""
        name, _space, options = text.strip().partition(" ")
        return self.perform(name, options.strip(), names_of_caller())

    def cell(self, name, options, body):
        """`%%magic`, with the rest of the code as `body`"""
        names = names_of_caller()
        if name in ("bash", "sh"):
            code = run_shell(body)
            if code != 0:
                raise RuntimeError(f"%%{name} ended with exit code {code}.")
        elif name == "writefile":
            with open(options, "w") as file:
                file.write(body + "\n")
            print(f"Wrote {options}")
        elif name in ("time", "timeit"):
            self.perform(name, body, names)
        else:
            raise RuntimeError(f"%%{name} is not available here: use Python, or %%bash for the shell.")

    def perform(self, name, options, names):
        if name == "pip":
            if run_shell(expand(f"{sys.executable} -m pip {options}", names)) != 0:
                tell(NO_PACKAGE)
        elif name == "time":
            return measure(options, names)
        elif name == "timeit":
            measure_often(options, names)
        elif name == "cd":
            os.chdir(os.path.expanduser(expand(options, names) or "~"))
            print(os.getcwd())
        elif name == "pwd":
            return os.getcwd()
        elif name == "env":
            return set_variable(options)
        elif name == "run":
            from runpy import run_path

            names.update({key: value for key, value in run_path(options).items() if key[:2] != "__"})
        elif name in SHELL_WORDS:
            run_shell(expand(f"{name} {options}", names))
        elif name not in IGNORED:
            raise RuntimeError(f"%{name} is not available here: use Python, or !command for the shell.")
        elif name not in ("matplotlib", "pylab"):
            tell(f"%{name} has no effect here.")
        return None


def names_of_caller():
    """The globals of the code; a command in a function sees its variables, too."""
    frame = sys._getframe(2)
    return frame.f_globals if frame.f_locals is frame.f_globals else {**frame.f_globals, **frame.f_locals}


def expand(command, names):
    """Replace `{expression}` and `$name` by values of the code; what is no expression or no name stays."""

    def replace(found):
        try:
            return str(eval(found[1] or found[2], names))
        except Exception:
            return found[0]

    return re.sub(r"\{([^{}\n]+)\}|\$(\w+)", replace, command)


def run_shell(command):
    from subprocess import run

    sys.stdout.flush()
    return run(**shell_options(command)).returncode


def shell_options(command):
    from shutil import which

    return {"args": [which("bash") or "/bin/sh", "-c", command]}


def tell(text):
    print(text, file=sys.stderr)


def measure(code, names):
    from time import perf_counter, process_time

    mode = "exec"
    try:
        program = compile(code, "<timed>", "eval")
        mode = "eval"
    except SyntaxError:
        program = compile(code, "<timed>", "exec")
    begun, begun_cpu = perf_counter(), process_time()
    try:
        value = eval(program, names)
    finally:
        wall, cpu = perf_counter() - begun, process_time() - begun_cpu
        print(f"CPU times: {cpu * 1000:.3g} ms\nWall time: {wall * 1000:.3g} ms")
    return value if mode == "eval" else None


def measure_often(code, names):
    from timeit import Timer

    timer = Timer(code, globals=names)
    loops, _seconds = timer.autorange()
    best = min(timer.repeat(3, loops)) / loops
    print(f"{best * 1e6:.3g} \u00b5s per loop (best of 3 times {loops} loops)")


def set_variable(options):
    name, equals, value = options.partition("=" if "=" in options else " ")
    if not name:
        return dict(os.environ)
    if equals:
        os.environ[name.strip()] = value.strip()
        print(f"env: {name.strip()}={value.strip()}")
        return None
    return os.environ.get(name)
