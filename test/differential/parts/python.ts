/** Parts of Python programs. */
import type { Draw, MakePart, Part } from '../generate.ts'

const quote = (text: string): string => JSON.stringify(text)
const lines = (...text: readonly string[]): string => text.join('\n')
const always = (...codes: readonly string[]): MakePart[] => codes.map((code) => () => ({ code }))
/** What only Lazaret has. */
const ours = (...codes: readonly string[]): MakePart[] =>
  codes.map((code) => () => ({ code, isPlain: false }))

function printed(draw: Draw): string {
  return draw.pick([
    `print(${quote(draw.text())})`,
    `print(${quote(draw.text())}, end='')`,
    `import sys; print(${quote(draw.text())}, file=sys.stderr)`,
    `print(repr(${quote(draw.text())}), ${draw.whole(1000)}, sep=${quote(draw.pick([' ', ', ', '\n']))})`,
    `import sys; _ = sys.stdout.write(${quote(draw.text())})`,
  ])
}

function readsStdin(draw: Draw): Part {
  const stdin = draw.pick([
    '',
    'one\ntwo\n',
    'a\r\nb\rc\n',
    'no newline',
    'é😀\n日本語',
    '\n\n',
    '1 2 3\n4 5 6\n',
  ])
  const code = draw.pick([
    'import sys; print(repr(sys.stdin.read()))',
    'import sys; print([line for line in sys.stdin])',
    'import sys; print(sys.stdin.readlines(), sys.stdin.newlines)',
    'import sys; print(sys.stdin.buffer.read())',
    'import sys; print(repr(sys.stdin.readline()), repr(sys.stdin.read(3)), sys.stdin.read())',
    'import csv, sys; print(list(csv.reader(sys.stdin)))',
    'import fileinput; print(list(fileinput.input()))',
    "print(repr(open('/dev/stdin').read()))",
    "import subprocess; print(subprocess.run(['cat'], capture_output=True).stdout)",
    lines(
      'try:',
      "    print(repr(input('name? ')), repr(input()))",
      'except EOFError as error:',
      '    print(repr(error))',
    ),
  ])
  return { code, request: { stdin } }
}

function readsFile(draw: Draw): Part {
  const name = draw.fileName()
  const content = draw.text()
  const code = draw.pick([
    `print(repr(open(${quote(name)}, newline='').read()))`,
    `import os; print(os.stat(${quote(name)}).st_size, sorted(os.listdir('.'))[0:0])`,
    `import pathlib; print(pathlib.Path(${quote(name)}).read_bytes())`,
  ])
  return { code, request: { files: { [name]: content } } }
}

function importsFile(draw: Draw): Part {
  const name = draw.id()
  return draw.pick<Part>([
    {
      code: `import ${name}; print(${name}.value, ${name}.__name__, ${name}.__file__)`,
      request: { files: { [`${name}.py`]: `value = ${draw.whole(100)}\nprint('loaded', __name__)\n` } },
    },
    {
      code: `from ${name}.inner import value; print(value)`,
      request: {
        files: { [`${name}/__init__.py`]: '', [`${name}/inner.py`]: 'from . import __name__ as value\n' },
      },
    },
    {
      code: `import ${name}.inner as m; print(m.value)`,
      request: { files: { [`${name}/inner.py`]: "value = 'namespace package'\n" } },
    },
    {
      code: `import ${name}`,
      request: {
        files: { [`${name}.py`]: `def fail():\n    raise ValueError(${quote(draw.text())})\nfail()\n` },
      },
    },
    {
      code: `import ${name}`,
      request: { files: { [`${name}.py`]: 'value = = 1\n' } },
    },
    {
      code: `import runpy; print(runpy.run_path('${name}.py')['value'])`,
      request: { files: { [`${name}.py`]: 'value = __name__\n' } },
    },
    {
      code: `import warnings, ${name}; ${name}.old()`,
      request: {
        files: { [`${name}.py`]: "import warnings\ndef old():\n    warnings.warn('old', stacklevel=2)\n" },
      },
    },
    {
      code: `import subprocess, sys; print(subprocess.run([sys.executable, '${name}.py', 'é'], capture_output=True, text=True))`,
      isPlain: false,
      request: { files: { [`${name}.py`]: 'import sys; print(sys.argv); sys.exit(3)' } },
    },
  ])
}

function shadows(draw: Draw): Part {
  const name = draw.pick([
    'string',
    'json',
    'random',
    'queue',
    'token',
    'typing',
    'code',
    'site',
    'numbers',
    'copy',
  ])
  return {
    code: `try:\n    import ${name}; print(getattr(${name}, 'mine', 'of the library'))\nexcept BaseException as error:\n    print(repr(error))`,
    request: { files: { [`${name}.py`]: 'mine = True\n' } },
  }
}

export const pythonParts: readonly MakePart[] = [
  (draw) => ({ code: printed(draw) }),
  (draw) => ({ code: lines(printed(draw), printed(draw)) }),
  readsStdin,
  readsStdin,
  readsFile,
  importsFile,
  importsFile,
  shadows,
  (draw) => {
    const input = draw.pick<unknown>([
      1,
      'é',
      null,
      [1, { a: 2n ** 70n }],
      new Date(0),
      new Map([[1, 2]]),
      new Uint8Array([0, 255]),
      { ключ: Number.NaN },
    ])
    return { code: 'print(type(input_data).__name__, repr(input_data))', request: { input } }
  },
  (draw) => {
    const args = draw.pick([
      ['a', 'b c'],
      ['', '-v', '--help'],
      ['é', '*', '$HOME'],
      ['-c', 'print(1)'],
    ])
    return {
      code: draw.pick([
        'import sys; print(sys.argv[1:], len(sys.argv))',
        "import argparse; p = argparse.ArgumentParser(prog='p'); p.add_argument('rest', nargs='*'); print(p.parse_known_args())",
      ]),
      request: { args },
    }
  },
  (draw) => {
    const [name, value] = draw.pick([
      ['MINE', 'a = b'],
      ['EMPTY', ''],
      ['ÜMLAUT', 'é\n'],
      ['TZ', 'Asia/Tokyo'],
      ['PYTHONHASHSEED', '0'],
      ['LANG', 'C'],
      ['PYTHONIOENCODING', 'latin-1'],
      ['PYTHONWARNINGS', 'error'],
      ['PYTHONUNBUFFERED', '1'],
      ['LC_ALL', 'C.UTF-8'],
      ['HOME', '/tmp'],
      ['COLUMNS', '40'],
    ])
    return {
      code: `import os, time, sys; print(os.environ.get(${quote(name)}), os.getenv(${quote(name)}), time.tzname, sys.stdout.encoding, os.path.expanduser('~') != '')`,
      request: { env: { [name]: value } },
    }
  },
  (draw) => {
    const name = `out/${draw.fileName()}`
    return {
      code: `import os; os.makedirs('out', exist_ok=True); f = open(${quote(name)}, 'w', newline=''); _ = f.write(${quote(draw.text())}); f.close()`,
      request: { collect: ['out/**'] },
    }
  },
  ...always(
    'import sys; print([(s.encoding, s.errors, s.newlines, s.line_buffering, s.write_through, s.isatty(), s.name, s.mode, s.fileno(), s.readable(), s.writable(), s.seekable(), type(s).__name__, type(s.buffer).__name__) for s in (sys.stdin, sys.stdout, sys.stderr)])',
    'import sys; print(sys.__stdin__ is sys.stdin, sys.__stdout__ is sys.stdout, sys.__stderr__ is sys.stderr)',
    'import sys; print([type(s.buffer.raw).__name__ for s in (sys.stdin, sys.stdout, sys.stderr)], sys.stdout.buffer.raw.mode, sys.stdin.buffer.raw.closefd)',
    "print(__name__, __doc__, __package__, __spec__, type(__loader__).__name__ != '', __builtins__.__name__)",
    'print(sorted(k for k in globals() if k.startswith("__")))',
    "import sys; print(sys.modules['__main__'].__dict__ is globals(), sys.flags.utf8_mode, sys.getfilesystemencoding(), sys.getdefaultencoding())",
    'import sys; print(sys.getrecursionlimit(), sys.getswitchinterval(), sys.gettrace(), sys.getprofile(), sys.displayhook is sys.__displayhook__, sys.excepthook is sys.__excepthook__)',
    'import os; print(os.getcwd(), os.umask(0o22), os.getppid() >= 0)',
    'import signal; print({s.name: str(signal.getsignal(s)) for s in (signal.SIGINT, signal.SIGTERM, signal.SIGPIPE, signal.SIGHUP, signal.SIGCHLD)})',
    'import threading; print(threading.current_thread().name, threading.main_thread() is threading.current_thread(), threading.active_count())',
    'import gc; print(gc.isenabled(), gc.get_threshold(), gc.get_freeze_count() >= 0)',
    'import locale; print(locale.getlocale(), locale.getpreferredencoding())',
    'import decimal; print(decimal.getcontext().prec, decimal.Decimal(1) / 3)',
    "import random; random.seed(5); print(random.random(), random.choice('abc'), random.sample(range(9), 3))",
    'import warnings; warnings.warn("careful")',
    'import warnings; warnings.warn("careful", DeprecationWarning)',
    'import warnings; warnings.warn("careful", stacklevel=2)',
    'import warnings; warnings.simplefilter("error"); \ntry:\n    warnings.warn("careful")\nexcept UserWarning as error:\n    print(error)',
    'import logging; logging.warning("log %s", 1); logging.info("not shown")',
    "import logging; logging.basicConfig(format='%(name)s %(levelname)s %(funcName)s %(lineno)d %(message)s'); logging.error('é')",
    'import traceback\ntry:\n    1 / 0\nexcept ZeroDivisionError:\n    traceback.print_exc()',
    'import traceback; traceback.print_stack()',
    'import traceback\ndef f():\n    traceback.print_stack()\nf()',
    'import inspect; print([f.function for f in inspect.stack()])',
    'import sys; print(sys._getframe().f_back, sys._getframe().f_lineno, sys._getframe().f_code.co_name)',
    'class Loud:\n    def __del__(self):\n        raise ValueError("in del")\nx = Loud()\ndel x',
    'import threading\nt = threading.Thread(target=lambda: 1 / 0, name="worker")\nt.start(); t.join()',
    'import asyncio\nasync def main():\n    await asyncio.sleep(0)\n    print("async")\nasyncio.run(main())',
    'import asyncio\nasync def fail():\n    raise ValueError("task")\nasync def main():\n    print(await asyncio.gather(fail(), return_exceptions=True))\nasyncio.run(main())',
    'async def never():\n    pass\nnever()\nNone',
    'import subprocess; print(subprocess.run(["sh", "-c", "echo out; echo err >&2; exit 3"], capture_output=True))',
    'import subprocess, sys; sys.stdout.flush(); subprocess.run(["echo", "inherited"])',
    'import os\npid = os.fork()\nif pid == 0:\n    os._exit(7)\nprint(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))',
    'import multiprocessing as mp\nprint(mp.get_start_method(), mp.current_process().name)',
    'from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor(2) as pool: print(list(pool.map(lambda x: x * x, range(4))))',
    'import atexit; _ = atexit.register(print, "at exit")',
    'import sys; sys.excepthook = lambda *e: print("hooked", e[0].__name__, e[1])',
    'import sys; sys.stdout.buffer.write(b"raw\\xff\\xfe\\n"); sys.stdout.flush()\nNone',
    'import sys; sys.stderr.buffer.write(b"raw\\xff\\n"); sys.stderr.flush()\nNone',
    'import os; os.write(1, b"by descriptor\\n"); os.write(2, b"error\\n")\nNone',
    'import pickle\nclass Point:\n    def __init__(self, x): self.x = x\nprint(pickle.loads(pickle.dumps(Point(3))).x, Point.__module__, Point.__qualname__)',
    'from dataclasses import dataclass, field\n@dataclass(order=True)\nclass P:\n    x: int\n    y: list = field(default_factory=list)\nprint(P(1), P(1) < P(2))',
    'import typing\nclass T(typing.NamedTuple):\n    a: int = 1\nprint(T(), typing.get_type_hints(T))',
    'import enum\nclass C(enum.Enum):\n    A = 1\nprint(C.A, repr(C.A), list(C))',
    'if __name__ == "__main__":\n    print("main")',
    'def gen():\n    x = yield 1\n    print("got", x)\n    yield 2\ng = gen(); print(next(g), g.send("s"))',
    'match {"k": [1, 2]}:\n    case {"k": [a, *rest]}:\n        print(a, rest)',
    'print(f"{3.14159:.2f} {1_000_000:,} {255:#x} {chr(233)!a:>8}")',
    'import json; print(json.dumps({"é": [1.5, None, True]}), json.loads("[1e400, -0.0]"))',
    'import re; print(re.sub(r"(?P<w>\\w+)", lambda m: m["w"].upper(), "é b_c 1"))',
    'import datetime; print(datetime.datetime(2026, 1, 2, tzinfo=datetime.timezone.utc).isoformat(), datetime.datetime.fromtimestamp(0))',
    'import sqlite3; print(sqlite3.connect(":memory:").execute("select 1+1, \'é\'").fetchall())',
    'import tempfile, os; f = tempfile.NamedTemporaryFile(dir="."); print(os.path.dirname(f.name) != ""); f.close()',
    'import sys; print(len(sys.argv), sys.argv[1:], sys.orig_argv is not None)',
    'import contextlib, io\nb = io.StringIO()\nwith contextlib.redirect_stdout(b):\n    print("caught")\nprint(repr(b.getvalue()))',
    'import pprint, textwrap; pprint.pprint({"a" * 40: list(range(30))})',
    'import time; print(time.timezone, time.strftime("%Y", time.gmtime(0)), time.perf_counter() > 0)',
    'import unittest\nclass T(unittest.TestCase):\n    def test_a(self): self.assertEqual(1, 1)\nr = unittest.TextTestRunner(verbosity=0, stream=open("/dev/null", "w")).run(unittest.defaultTestLoader.loadTestsFromTestCase(T)); print(r.testsRun, r.wasSuccessful())',
    'import doctest\ndef f():\n    """\n    >>> 1 + 1\n    2\n    """\nprint(doctest.testmod())',
    'help(len)',
    'exec("def made():\\n    raise KeyError(1)"); \ntry:\n    made()\nexcept KeyError as e:\n    import traceback; print(traceback.format_exc())',
    'import dis; dis.dis("x")',
    'import code; print(code.InteractiveConsole.__module__)',
    'import builtins; print(sorted(set(dir(builtins)) & {"exit", "quit", "copyright", "license", "credits", "help", "_", "display", "input"}))',
    'import site, sys; print(site.ENABLE_USER_SITE, sys.flags.isolated, sys.dont_write_bytecode, sys.warnoptions, sys.flags.safe_path if hasattr(sys.flags, "safe_path") else 0)',
    'import sys; print(sys.path[0])',
    'import io; f = open("/proc/self/cmdline", "rb"); print(len(f.read()) > 0); f.close()',
    'print(open.__module__, print, input)',
    'import sys; print(sys.stdout.write("w\\n"), sys.stdout.writelines(["a", "b\\n"]), sys.stdout.isatty())',
    'import os, sys; print(os.isatty(0), os.isatty(1), os.fstat(0).st_mode >> 12, os.fstat(1).st_mode >> 12, os.fstat(2).st_mode >> 12)',
    'import os; print(sorted(int(n) for n in os.listdir("/proc/self/fd"))[:3])',
    'import sys, os; print(os.get_blocking(0), os.get_blocking(1), os.get_inheritable(0))',
  ),
  ...ours(
    'display("shown")',
    'display({"a": 1}, [1, 2])',
    'class Rich:\n    def _repr_html_(self): return "<b>é</b>"\ndisplay(Rich())',
    'class Rich:\n    def _repr_mimebundle_(self, include=None, exclude=None): return {"text/plain": "p", "application/json": {"a": 1}}\ndisplay(Rich())',
    'h = display("one", display_id="d"); h.update("two")',
    'import asyncio\nawait asyncio.sleep(0)\nprint("awaited")',
    'async def f(): return 5\nprint(await f())',
    'async with __import__("contextlib").AsyncExitStack() as s:\n    print("with")',
  ),
]

const thrown: readonly string[] = [
  '1 / 0',
  'raise ValueError("é😀")',
  'raise ValueError',
  'raise ValueError("two\\nlines")',
  'class Own(Exception):\n    pass\nraise Own("a", 2)',
  'class Own(Exception):\n    def __str__(self): return "str"\nraise Own()',
  'class Own(Exception):\n    def __str__(self): raise TypeError("bad str")\nraise Own()',
  'def f(n):\n    return f(n - 1) if n else {}["k"]\nf(3)',
  'def f(n):\n    return f(n + 1)\nf(0)',
  'try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    raise KeyError("k") from e',
  'try:\n    1 / 0\nexcept ZeroDivisionError:\n    int("x")',
  'try:\n    1 / 0\nexcept ZeroDivisionError:\n    raise OSError(2, "no", "file") from None',
  'raise ExceptionGroup("group", [ValueError(1), TypeError("t")])',
  'e = ValueError("noted"); e.add_note("a note"); raise e',
  'open("/no/such")',
  'import no_such_module',
  'from json import no_such_name',
  'undefined_name',
  '[].appendd',
  'assert 1 == 2, "unequal"',
  'assert False',
  'raise KeyboardInterrupt',
  'raise SystemExit',
  'raise SystemExit("a message")',
  'raise SystemExit(["list"])',
  'raise StopIteration(3)',
  'raise GeneratorExit',
  'raise BaseException("base")',
  'import sys; sys.exit()',
  'import sys; sys.exit(3)',
  'import sys; sys.exit(-1)',
  'import sys; sys.exit(300)',
  'import sys; sys.exit(True)',
  'import sys; sys.exit("é")',
  'exit(4)',
  'quit()',
  'import os; os._exit(5)',
  'import os, signal; os.kill(os.getpid(), signal.SIGTERM)',
  'import os; os.abort()',
  'try:\n    import sys; sys.exit(2)\nfinally:\n    print("finally")',
  'x = = 1',
  'print("unclosed"',
  'def f():\nreturn 1',
  '  indented = 1',
  'x = "unterminated',
  'return 1',
  'await_ = 1; break',
  'a b c',
  'f(x for x in y, 1)',
  'nonlocal x',
  'exec("x = = 1")',
  'eval("1 +")',
  'compile("a b", "<own>", "exec")',
  'int("é")',
  '"a" + 1',
  'import json; json.loads("{bad")',
  'b"\\xff".decode()',
  '"\\ud800".encode()',
  'print("\\ud800")',
  'import subprocess; subprocess.run(["false"], check=True)',
  'import asyncio\nasync def main():\n    raise ValueError("in main")\nasyncio.run(main())',
  'class C:\n    @property\n    def p(self): raise AttributeError("inner")\nC().p',
  'raise "text"',
  'raise type("Dyn", (Exception,), {})("dyn")',
  'class M(type):\n    def __instancecheck__(s, o): raise ValueError("meta")\nclass K(metaclass=M): pass\nisinstance(1, K)',
  'lambda: 1\n(lambda x: x.y)(1)',
  'result = (1 +\n          undefined_here +\n          2)',
  'for i in range(3):\n    if i == 2: raise IndexError(i)',
]

const values: readonly string[] = [
  '1 + 1',
  '"é😀"',
  'None',
  '[1, (2, 3), {4}, frozenset([5])]',
  '{"a": {"b": [None, True]}, 1: 2}',
  'float("nan"), float("inf"), -0.0',
  '2 ** 100',
  'b"\\x00\\xff"',
  '1 + 2j',
  'object.__name__',
  'range(3)',
  'lambda: 1',
  'print',
  'type',
  'import datetime\ndatetime.datetime(2026, 1, 2, 3, 4, 5)',
  'import datetime\ndatetime.timedelta(days=1)',
  'import decimal\ndecimal.Decimal("1.10")',
  'import fractions\nfractions.Fraction(1, 3)',
  'import uuid\nuuid.UUID(int=1)',
  'import pathlib\npathlib.Path("a/b")',
  'import collections\ncollections.OrderedDict(a=1), collections.Counter("aab"), collections.deque([1])',
  'class V:\n    def __repr__(self): return "<V é>"\nV()',
  'class V:\n    def __repr__(self): raise ValueError("bad repr")\nV()',
  'class V:\n    def _repr_html_(self): return "<i>html</i>"\nV()',
  'a = []; a.append(a); a',
  'x = 5',
  'x: int = 5\nx',
  '(x := 7)',
  '1; 2; 3',
  '1 if True else 2;',
  'def f(): pass',
  '"doc"',
  '...',
  '[i for i in range(5) if i % 2]',
  '{"k" * 3: "v" * 200}',
  '"x" * 5000',
  'list(range(2000))',
  '*[1, 2], 3',
  'import enum\nclass E(enum.IntEnum):\n    A = 1\nE.A',
  'bytearray(b"ab"), memoryview(b"cd")',
  'ValueError("as value")',
  '"\\ud800"',
  'import array\narray.array("i", [1, 2])',
  'NotImplemented',
  '_ = 3\n_',
]

export const pythonEnds: readonly MakePart[] = [...always(...thrown), ...always(...values)]
