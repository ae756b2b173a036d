/** The language reference: statements, functions, generators and pattern matching. */
import { type PythonCase, tuple } from './case.ts'

export const statements: readonly PythonCase[] = [
  {
    feature: 'while with else',
    code: 'n = 0\nwhile n < 3:\n    n += 1\nelse:\n    n = "done"\nn',
    value: 'done',
  },
  {
    feature: 'for with break, continue and else',
    code: 'for n in range(10):\n    if n % 2: continue\n    if n == 4: break\nelse:\n    n = None\nn',
    value: 4,
  },
  {
    feature: 'starred assignment targets',
    code: 'first, *middle, (last, _) = [1, 2, 3, (4, 5)]\n[first, middle, last]',
    value: [1, [2, 3], 4],
  },
  {
    feature: 'try, except, else and finally in order',
    code: 'for zero in (True, False):\n    try:\n        1 / (0 if zero else 1)\n    except ZeroDivisionError as error:\n        print("except", error)\n    else:\n        print("else")\n    finally:\n        print("finally")',
    stdout: 'except division by zero\nfinally\nelse\nfinally\n',
  },
  {
    feature: 'the name of a caught exception is gone after its clause',
    code: 'try:\n    1 / 0\nexcept ZeroDivisionError as error:\n    pass\n"error" in globals()',
    value: false,
  },
  {
    feature: 'with and several context managers',
    code: 'from contextlib import contextmanager\n@contextmanager\ndef tag(name):\n    print("<" + name)\n    yield name.upper()\n    print(name + ">")\nwith tag("a") as a, tag("b") as b:\n    print(a, b)',
    stdout: '<a\n<b\nA B\nb>\na>\n',
  },
  {
    feature: 'parenthesized context managers',
    since: [3, 10],
    code: 'from contextlib import nullcontext\nwith (\n    nullcontext(1) as a,\n    nullcontext(2) as b,\n):\n    pass\na + b',
    value: 3,
  },
  {
    feature: 'assert',
    code: 'assert 1 + 1 == 2\nassert 1 == 2, "sums"',
    exitCode: 1,
    stderr:
      /^Traceback .*\n {2}File "<code>", line 2, in <module>\n {4}assert 1 == 2, "sums"\n(.*\n)?AssertionError: sums\n$/,
    error: { name: 'AssertionError', message: 'sums', line: 2 },
  },
  {
    feature: 'del of names, items and slices',
    code: 'a = [0, 1, 2, 3]\ndel a[0], a[1:]\nb = 1\ndel b\n[a, "b" in globals()]',
    value: [[1], false],
  },
  {
    feature: 'global and nonlocal',
    code: 'count = 0\ndef counter():\n    n = 0\n    def step():\n        nonlocal n\n        global count\n        n += 1\n        count += 10\n        return n\n    return step\nstep = counter()\nstep()\n[step(), count]',
    value: [2, 20],
  },
  {
    feature: 'positional-only and keyword-only parameters',
    code: 'def f(a, /, b, *, c=3, **rest):\n    return [a, b, c, rest]\nf(1, b=2, a="free")',
    value: [1, 2, 3, { a: 'free' }],
  },
  {
    feature: 'default values are made once',
    code: 'def f(item, seen=[]):\n    seen.append(item)\n    return list(seen)\n[f(1), f(2)]',
    value: [[1], [1, 2]],
  },
  {
    feature: 'closures that share a variable',
    code: '[f() for f in [lambda: i for i in range(3)]]',
    value: [2, 2, 2],
  },
  {
    feature: 'generators with send, throw and a return value',
    code: 'def g():\n    try:\n        got = yield 1\n        yield got * 2\n    except KeyError:\n        yield "caught"\n    return "end"\na = g()\nseen = [next(a), a.send(21), a.throw(KeyError)]\ntry:\n    next(a)\nexcept StopIteration as stop:\n    seen.append(stop.value)\nseen',
    value: [1, 42, 'caught', 'end'],
  },
  {
    feature: 'yield from',
    code: 'def inner():\n    yield 1\n    return "result"\ndef outer():\n    yield (yield from inner())\nlist(outer())',
    value: [1, 'result'],
  },
  {
    feature: 'decorators, applied from the inside out',
    code: 'def mark(text):\n    return lambda f: lambda: text + f()\n@mark("<")\n@mark("[")\ndef f(): return "x"\nf()',
    value: '<[x',
  },
  {
    feature: 'structural pattern matching',
    since: [3, 10],
    code: 'def what(x):\n    match x:\n        case 0 | 1: return "bit"\n        case int(n) if n < 0: return "negative"\n        case [first, *rest]: return [first, rest]\n        case {"op": op, **others}: return [op, others]\n        case str() as s: return s.upper()\n        case _: return None\n[what(1), what(-2), what([1, 2, 3]), what({"op": "add", "x": 1}), what("s"), what(3.5)]',
    value: ['bit', 'negative', [1, [2, 3]], ['add', { x: 1 }], 'S', null],
  },
  {
    feature: 'pattern matching on classes',
    since: [3, 10],
    code: 'from dataclasses import dataclass\n@dataclass\nclass Point:\n    x: int\n    y: int\nmatch Point(0, 7):\n    case Point(x=0, y=above): result = above\nresult',
    value: 7,
  },
  {
    feature: 'except*',
    since: [3, 11],
    code: 'seen = []\ntry:\n    raise ExceptionGroup("g", [ValueError(1), TypeError(2), ExceptionGroup("n", [ValueError(3)])])\nexcept* ValueError as group:\n    seen.append(str(group.exceptions[0]))\nexcept* TypeError as group:\n    seen.append(len(group.exceptions))\nseen',
    value: ['1', 1],
  },
  {
    feature: 'annotations of variables',
    code: 'count: int = 1\nname: "str"\n[__annotations__["name"], count]',
    value: ['str', 1],
  },
  {
    feature: 'type aliases of built-in collections',
    since: [3, 9],
    code: 'import typing\ndef f(a: list[int], b: "dict[str, tuple[int, ...]]") -> None: ...\n[str(hint) for hint in typing.get_type_hints(f).values()]',
    value: ['list[int]', 'dict[str, tuple[int, ...]]', "<class 'NoneType'>"],
  },
  {
    feature: 'union types written with |',
    since: [3, 10],
    code: '[isinstance(1, int | str), isinstance(1.5, int | str), str(int | None)]',
    value: [true, false, 'int | None'],
  },
  {
    feature: 'sequence unpacking in return and yield',
    code: 'def f():\n    rest = [2, 3]\n    return 1, *rest\nf()',
    value: tuple(1, 2, 3),
  },
  {
    feature: 'a program of nothing but comments',
    code: '# nothing\n\n"""a string is an expression, though"""',
    value: 'a string is an expression, though',
  },
  {
    feature: 'import of a module and a package of the workspace',
    code: 'import shapes.circle as c\nfrom shapes import NAME\nimport single\n[c.area(2), NAME, single.value, shapes_file := c.__file__]',
    request: {
      files: {
        'single.py': 'value = 5\n',
        'shapes/__init__.py': 'NAME = "shapes"\n',
        'shapes/circle.py': 'from . import NAME\ndef area(r):\n    return 3 * r * r\n',
      },
    },
    value: [12, 'shapes', 5, '/workspace/shapes/circle.py'],
  },
]
