/** How programs end: exit codes, uncaught exceptions, code that does not compile, warnings. */
import type { PythonCase } from './case.ts'

export const failures: readonly PythonCase[] = [
  {
    feature: 'sys.exit with a code',
    code: 'import sys\nprint("out")\nsys.exit(7)',
    stdout: 'out\n',
    exitCode: 7,
  },
  { feature: 'sys.exit with None', code: 'import sys\nsys.exit(None)' },
  {
    feature: 'sys.exit with a message',
    code: 'import sys\nsys.exit("gone wrong")',
    stderr: 'gone wrong\n',
    exitCode: 1,
  },
  {
    feature: 'sys.exit with a tuple',
    code: 'raise SystemExit((1, "two"))',
    stderr: "(1, 'two')\n",
    exitCode: 1,
  },
  { feature: 'an exit code is taken modulo 256', code: 'import sys\nsys.exit(257)', exitCode: 1 },
  { feature: 'a negative exit code', code: 'import sys\nsys.exit(-1)', exitCode: 255 },
  {
    feature: 'an exit code too long for a C integer',
    code: 'import sys\nsys.exit(2 ** 70)',
    stderr: /^([^\n]+:\n)?(OverflowError: [^\n]+\n)?$/,
    exitCode: 255,
  },
  {
    feature: 'finally clauses and context managers on the way out',
    code: 'import sys\ntry:\n    sys.exit(2)\nfinally:\n    print("finally")',
    stdout: 'finally\n',
    exitCode: 2,
  },
  {
    feature: 'atexit functions run in reverse order, also after an error',
    code: 'import atexit\natexit.register(print, "first")\natexit.register(print, "second")\n[][0]',
    stdout: 'second\nfirst\n',
    stderr: /IndexError: list index out of range\n$/,
    exitCode: 1,
    error: { name: 'IndexError', line: 4 },
  },
  {
    feature: 'a traceback through functions, with their lines',
    code: 'def a():\n    b()\n\ndef b():\n    {}["key"]\n\na()',
    exitCode: 1,
    stderr:
      /^Traceback \(most recent call last\):\n {2}File "<code>", line 7, in <module>\n {4}a\(\)\n( {4}[ ~^]+\n)? {2}File "<code>", line 2, in a\n {4}b\(\)\n( {4}[ ~^]+\n)? {2}File "<code>", line 5, in b\n {4}\{\}\["key"\]\n( {4}[ ~^]+\n)?KeyError: 'key'\n$/,
    error: { name: 'KeyError', message: "'key'", line: 5 },
  },
  {
    feature: 'marks under the failing part of a line',
    since: [3, 11],
    code: 'x = {"a": None}\nx["a"]["b"] + 1',
    exitCode: 1,
    stderr: /\n {4}x\["a"\]\["b"\] \+ 1\n {4}~{6}\^{5}\nTypeError: 'NoneType' object is not subscriptable\n$/,
    error: { name: 'TypeError', line: 2 },
  },
  {
    feature: 'a suggestion for a misspelt name',
    since: [3, 10],
    code: 'length = 1\nlenght',
    exitCode: 1,
    stderr: /NameError: name 'lenght' is not defined\. Did you mean: 'length'\?\n$/,
    error: { name: 'NameError', line: 2 },
  },
  {
    feature: 'raise from',
    code: 'try:\n    int("x")\nexcept ValueError as error:\n    raise RuntimeError("no number") from error',
    exitCode: 1,
    stderr:
      /^Traceback .*line 2, in <module>.*ValueError: invalid literal.*\n\nThe above exception was the direct cause of the following exception:\n\nTraceback .*line 4, in <module>.*RuntimeError: no number\n$/s,
    error: { name: 'RuntimeError', message: 'no number', line: 4 },
  },
  {
    feature: 'an exception during the handling of another',
    code: 'try:\n    1 / 0\nexcept ZeroDivisionError:\n    {}["k"]',
    exitCode: 1,
    stderr:
      /ZeroDivisionError: division by zero\n\nDuring handling of the above exception, another exception occurred:\n\n.*KeyError: 'k'\n$/s,
    error: { name: 'KeyError', line: 4 },
  },
  {
    feature: 'raise from None',
    code: 'try:\n    1 / 0\nexcept ZeroDivisionError:\n    raise ValueError("clean") from None',
    exitCode: 1,
    stderr:
      /^Traceback [^\n]*\n {2}File "<code>", line 4, in <module>\n[^\n]*\n([ ^~]*\n)?ValueError: clean\n$/,
    error: { name: 'ValueError', line: 4 },
  },
  {
    feature: 'an exception group',
    since: [3, 11],
    code: 'def collect():\n    raise ExceptionGroup("two", [ValueError("a"), TypeError("b")])\ncollect()',
    exitCode: 1,
    stderr:
      /\+ Exception Group Traceback \(most recent call last\):\n.*line 2, in collect\n.*\| ExceptionGroup: two \(2 sub-exceptions\)\n {2}\+-\+---------------- 1 ----------------\n {4}\| ValueError: a\n.*\| TypeError: b\n/s,
    error: { name: 'ExceptionGroup', line: 2 },
  },
  {
    feature: 'notes of an exception',
    since: [3, 11],
    code: 'error = ValueError("bad")\nerror.add_note("in row 3")\nraise error',
    exitCode: 1,
    stderr: /\nValueError: bad\nin row 3\n$/,
    error: { name: 'ValueError', message: 'bad', line: 3 },
  },
  {
    feature: 'recursion without end',
    code: 'def f(n):\n    return f(n + 1)\nf(0)',
    exitCode: 1,
    stderr:
      /\[Previous line repeated \d+ more times\]\n(.*\n)*RecursionError: maximum recursion depth exceeded/,
    error: { name: 'RecursionError', line: 2 },
  },
  {
    feature: 'an exception of a class that the program defines',
    code: 'class AppError(Exception):\n    def __str__(self): return f"code {self.args[0]}"\nraise AppError(12)',
    exitCode: 1,
    stderr: /\n(__main__\.)?AppError: code 12\n$/,
    error: { name: 'AppError', message: 'code 12', line: 3 },
  },
  {
    feature: 'KeyboardInterrupt',
    code: 'raise KeyboardInterrupt',
    exitCode: 130,
    stderr: /KeyboardInterrupt\n$/,
    error: { name: 'KeyboardInterrupt', line: 1 },
  },
  {
    feature: 'a syntax error with its place',
    code: 'ok = 1\nprint("a" "b"',
    stderr: /^ {2}File "<code>", line 2\n {4}print\("a" "b"\n( +\^\n)?SyntaxError: /,
    exitCode: 1,
    error: { name: 'SyntaxError', line: 2, isSyntax: true },
  },
  {
    feature: 'an indentation error',
    code: 'if True:\npass',
    stderr: /^ {2}File "<code>", line 2\n {4}pass\n( +\^+\n)?IndentationError: expected an indented block/,
    exitCode: 1,
    error: { name: 'IndentationError', line: 2, isSyntax: true },
  },
  {
    feature: 'tabs mixed with spaces',
    code: 'if True:\n        a = 1\n\tb = 2',
    stderr: /TabError: inconsistent use of tabs and spaces in indentation\n$/,
    exitCode: 1,
    error: { name: 'TabError', line: 3, isSyntax: true },
  },
  {
    feature: 'a syntax error in a module of the workspace',
    code: 'import broken',
    request: { files: { 'broken.py': 'x = (1,\ny = 2\n' } },
    stderr:
      /^Traceback .*\n {2}File "<code>", line 1, in <module>\n {4}import broken\n {2}File "\/workspace\/broken\.py", line \d\n.*SyntaxError: /s,
    exitCode: 1,
    error: { name: 'SyntaxError', line: 1 },
  },
  {
    feature: 'warnings.warn with its line',
    code: 'import warnings\ndef old():\n    warnings.warn("use new()", DeprecationWarning, stacklevel=2)\nold()\nwarnings.warn("plain")',
    stderr:
      '<code>:4: DeprecationWarning: use new()\n  old()\n<code>:5: UserWarning: plain\n  warnings.warn("plain")\n',
  },
  {
    feature: 'a warning of the compiler',
    code: 'x = "a"\ny = x is "a"',
    stderr: /^<code>:2: SyntaxWarning: "is" with (a|'str') literal. Did you mean "=="\?\n {2}y = x is "a"\n$/,
  },
  {
    feature: 'a warning is shown once for a place, and filters hold',
    code: 'import warnings\nfor _ in range(3):\n    warnings.warn("again")\nwarnings.simplefilter("error")\ntry:\n    warnings.warn("now an error")\nexcept UserWarning as error:\n    print(error)',
    stderr: '<code>:3: UserWarning: again\n  warnings.warn("again")\n',
    stdout: 'now an error\n',
  },
  {
    feature: 'an exception in __del__ does not end the program',
    code: 'class R:\n    def __del__(self):\n        raise ValueError("in del")\nR()\nprint("alive")',
    stdout: 'alive\n',
    stderr:
      /^Exception ignored .*\nTraceback .*\n {2}File "<code>", line 3, in __del__\n {4}raise ValueError\("in del"\)\n([ ^~]*\n)?ValueError: in del\n$/,
  },
  {
    feature: 'sys.excepthook of the program',
    code: 'import sys\nsys.excepthook = lambda kind, error, trace: print("hook", kind.__name__, error)\n1 / 0',
    stdout: 'hook ZeroDivisionError division by zero\n',
    exitCode: 1,
    error: { name: 'ZeroDivisionError', line: 3 },
  },
  {
    feature: 'traceback.print_exc and format_exc',
    code: 'import traceback\ntry:\n    1 / 0\nexcept ZeroDivisionError:\n    traceback.print_exc()\n    print(traceback.format_exc().splitlines()[2])',
    stdout: '    1 / 0\n',
    stderr:
      /^Traceback .*\n {2}File "<code>", line 3, in <module>\n {4}1 \/ 0\n([ ^~]*\n)?ZeroDivisionError: division by zero\n$/,
  },
]
