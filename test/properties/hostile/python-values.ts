/** Values of Python programs that lie, raise exceptions, grow or change while they are read. */
import { anything, type HostileRow, nothing, resultBytes, shown } from './hostile-value.ts'

const cut = { isCut: true }
const timedOut = { outcome: 'timed-out' } as const
const fail = 'lambda *_, **__: 1 / 0'
const methods = [
  '__repr__',
  '__str__',
  '__reduce__',
  '__reduce_ex__',
  '__getattr__',
  '__getattribute__',
  '__eq__',
  '__hash__',
  '__len__',
  '__iter__',
  '__bool__',
  '__format__',
  '__sizeof__',
  '__dir__',
]
const kinds = [
  ['list', '[1]', [1]],
  ['dict', '{"a": 1}', { a: 1 }],
  ['tuple', '(1,)', [1]],
  ['set', '{1}', new Set([1])],
  ['frozenset', '{1}', new Set([1])],
  ['str', '"s"', 's'],
  ['int', '5', 5],
  ['float', '2.5', 2.5],
  ['bytes', 'b"x"', new Uint8Array([120])],
  ['bytearray', 'b"x"', new Uint8Array([120])],
  ['complex', '1j', { real: 0, imag: 1 }],
] as const

const liars: readonly HostileRow[] = [
  ...methods.map((method): HostileRow => [
    `an object whose ${method} raises`,
    `class A:\n    ${method} = ${fail}\n[A(), 1][1:] + [A()][:0]`,
    [1],
  ]),
  ...methods.map((method): HostileRow => [
    `such an object as the value (${method})`,
    `class A:\n    ${method} = ${fail}\n[A()]`,
    anything,
  ]),
  ...kinds.map(([base, literal, value]): HostileRow => [
    `a ${base} whose every method raises`,
    `class Odd(${base}):\n    pass\nfor name in dir(${base}):\n    if name not in ("__new__", "__init__", "__class__", "__hash__", "__init_subclass__", "__dict__", "__doc__", "__module__", "__setattr__", "__getattribute__"):\n        setattr(Odd, name, ${fail})\n[Odd(${literal})]`,
    [value],
  ]),
  ['a __class__ that lies', 'class A(int):\n    __class__ = dict\n[A(5)]', [5]],
  ['a __class__ that raises', `class A:\n    __class__ = property(${fail})\n[A(), 1][1]`, 1],
  [
    'a metaclass that answers yes to every question',
    'class M(type):\n    __instancecheck__ = __subclasscheck__ = lambda *_: True\nclass A(metaclass=M):\n    __repr__ = lambda self: "a"\n[A()]',
    [shown('a')],
  ],
  [
    'a metaclass that raises on every question',
    `class M(type):\n    __instancecheck__ = __subclasscheck__ = __eq__ = __getattribute__ = ${fail}\n    __hash__ = type.__hash__\nclass A(metaclass=M):\n    __repr__ = lambda self: "a"\n[A()]`,
    anything,
  ],
  ['a dict whose items() lie', 'class D(dict):\n    items = lambda self: [("forged", 1)]\nD(a=1)', { a: 1 }],
  [
    'a dict with a key that is a text and is not',
    'class S(str):\n    __eq__ = lambda *_: True\n    __hash__ = lambda _: 1\n{S("$type"): 1}',
    { $type: 1 },
  ],
  [
    'a text that says it is another',
    'class S(str):\n    __str__ = __repr__ = __format__ = lambda *_: "forged"\nS("true")',
    'true',
  ],
  [
    'an integer that says it is another',
    'class I(int):\n    __str__ = __repr__ = __index__ = lambda *_: 7\nI(5)',
    5,
  ],
  [
    'a repr that is no text',
    'class A:\n    __repr__ = lambda _: 5\n[A()]',
    [shown('<A whose repr raised TypeError>')],
  ],
  [
    'a repr that never returns',
    'class A:\n    def __repr__(self):\n        while True: pass\n[A()]',
    nothing,
    timedOut,
  ],
  [
    'a repr without end',
    'class A:\n    def __repr__(self): return repr(self)\n[A()]',
    [shown('<A whose repr raised RecursionError>')],
  ],
  ['a repr of 30 MB', 'class A:\n    def __repr__(self): return "y" * 30_000_000\n[A()]', anything],
  [
    'a repr that exits',
    'class A:\n    def __repr__(self): raise SystemExit(9)\n[A()]',
    [shown('<A whose repr raised SystemExit>')],
  ],
  [
    'a repr that writes to the channel',
    'import os\nclass A:\n    def __repr__(self):\n        try: os.write(3, b"")\n        except OSError: pass\n        return "a"\n[A()]',
    [shown('a')],
  ],
  [
    'a repr that changes the list it lies in',
    'class A:\n    def __repr__(self):\n        while len(lies) < 50: lies.append(1)\n        return "a"\nlies = [A()]\nlies',
    anything,
  ],
  [
    'a repr that empties the dict it lies in',
    'class A:\n    def __repr__(self):\n        lies.clear()\n        return "a"\nlies = {"a": A(), "b": 2}\nlies',
    {},
  ],
  [
    'a class called by a JSON frame',
    'type(\'"}}{"type":"value"\', (), {"__repr__": lambda self: self.__class__.__name__})()',
    shown('"}}{"type":"value"'),
  ],
  [
    'an Enum whose value is itself',
    'import enum\nclass E(enum.Enum):\n    A = 1\nE.A._value_ = E.A\n[E.A]',
    anything,
  ],
  [
    'an Enum whose value is a list',
    'import enum\nclass E(enum.Enum):\n    A = [1]\n[E.A, E.A]',
    sharedPair(),
  ],
  [
    'a dataclass whose field raises',
    'import dataclasses\n@dataclasses.dataclass\nclass P:\n    x: int\n    def __getattribute__(self, name):\n        if name == "x": raise ValueError\n        return object.__getattribute__(self, name)\nq = P(1)\n[P.__name__, q][:1]',
    ['P'],
  ],
  [
    'a dataclass in itself',
    'import dataclasses\n@dataclasses.dataclass\nclass P:\n    me: object = None\np = P()\np.me = p\np',
    selfNamed(),
  ],
  [
    'a class that says it is a dataclass',
    'class P:\n    __dataclass_fields__ = 5\n    __repr__ = lambda _: "p"\n[P()]',
    [shown('p')],
  ],
  ['a deque in itself', 'import collections\nd = collections.deque()\nd.append(d)\nd', selfList()],
  [
    'a datetime of a subclass that lies',
    'import datetime\nclass D(datetime.datetime):\n    isoformat = __str__ = lambda *_: "x"\nD(2026, 1, 31)',
    new Date('2026-01-31T00:00:00Z'),
  ],
  [
    'a time zone that raises',
    `import datetime\nclass Z(datetime.tzinfo):\n    utcoffset = ${fail}\n[datetime.datetime(2026, 1, 1, tzinfo=Z())]`,
    anything,
  ],
  [
    'a time zone of odd offsets',
    'import datetime\nclass Z(datetime.tzinfo):\n    utcoffset = lambda *_: datetime.timedelta(hours=23, minutes=59, seconds=59, microseconds=5)\n[datetime.datetime(2026, 1, 1, tzinfo=Z())]',
    [new Date('2025-12-31T00:00:01Z')],
  ],
  [
    'a Decimal of a subclass that lies',
    'import decimal\nclass D(decimal.Decimal):\n    __str__ = lambda _: "forged"\nD("1.5")',
    '1.5',
  ],
  [
    'a Decimal with a giant exponent',
    'import decimal\ndecimal.Decimal("1e999999999999999999")',
    '1E+999999999999999999',
  ],
]

function selfNamed(): object {
  const named: { me?: unknown } = {}
  named.me = named
  return named
}

function selfList(): unknown[] {
  const list: unknown[] = []
  list.push(list)
  return list
}

function sharedPair(): unknown[] {
  const shared = [1]
  return [shared, shared]
}

const shapes: readonly HostileRow[] = [
  ['a list in itself', 'a = []\na.append(a)\na', selfList()],
  ['a dict in itself', 'd = {}\nd["me"] = d\nd', selfNamed()],
  ['a dict that is a value of itself under a number', 'd = {}\nd[1] = d\nd', anything],
  ['a tuple in a list in itself', 't = ([],)\nt[0].append(t)\nt', anything],
  ['an exception that causes itself', 'e = ValueError("e")\ne.__cause__ = e\ne', anything],
  [
    'an exception group in itself',
    'e = ExceptionGroup("g", [ValueError("v")]) if hasattr(__builtins__, "ExceptionGroup") else ValueError("v")\ne.me = e\ne',
    anything,
  ],
  ['a list 100,000 deep', 'x = []\nfor _ in range(100_000): x = [x]\nx', anything, cut],
  ['a dict 100,000 deep', 'x = {}\nfor _ in range(100_000): x = {1: x}\nx', anything, cut],
  [
    'exceptions 10,000 deep',
    'x = ValueError()\nfor _ in range(10_000):\n    y = ValueError(); y.__cause__ = x; x = y\nx',
    anything,
    cut,
  ],
  ['a list exactly as deep as may be', 'x = 0\nfor _ in range(1001): x = [x]\nx', anything],
  ['a list one level too deep', 'x = 0\nfor _ in range(1002): x = [x]\nx', anything, cut],
  ['bytes on the last level', 'x = b"x"\nfor _ in range(1001): x = [x]\nx', anything],
  ['nan on the last level', 'x = float("nan")\nfor _ in range(1001): x = (x,)\nx', anything],
  ['a list of 250,000 numbers', '[1] * 250_000', anything],
  ['a list of 1,000,000 numbers', '[1] * 1_000_000', anything, cut],
  ['an exponential tree of shared lists', 'x = []\nfor _ in range(900): x = [x, x]\nx', anything],
  ['an exponential tree of tuples', 'x = ()\nfor _ in range(60): x = (x, x)\nx', anything],
  ['a text of the largest size', `"x" * ${resultBytes - 2}`, anything],
  ['a text one byte longer', `"x" * ${resultBytes - 1}`, anything, cut],
  ['a text whose escapes make it too long', '"\\0" * 200_000', anything, cut],
  ['a text whose bytes make it too long', '"é" * 600_000', anything, cut],
  ['a text of lone surrogates', '"\\ud800" * 1000', '\ud800'.repeat(1000)],
  ['lone surrogates that escapes make too long', '"\\ud800" * 200_000', anything, cut],
  ['too many bytes', 'b"x" * 1_000_000', anything, cut],
  ['a bytearray too large', 'bytearray(1_000_000)', anything, cut],
  ['a memoryview too large', 'memoryview(bytes(1_000_000))', anything, cut],
  ['a released memoryview', 'm = memoryview(b"x")\nm.release()\n[m]', anything],
  ['an array too large', 'import array\narray.array("d", bytes(1_000_000))', anything, cut],
  ['an integer of a million digits', '10 ** 1_000_000', 10n ** 1_000_000n],
  ['an integer of 1.5 million digits', '1 << 5_000_000', anything, cut],
  ['a key of 2 MB', '{"k" * 2_000_000: 1}', anything, cut],
  ['sparse keys of an object', '{str(2**32 - 2 - i): 0 for i in range(1000)}', anything],
]

const alive: readonly HostileRow[] = [
  ['a generator', 'g = (i for i in range(3))\nr = [g]\n[type(r[0]).__name__, next(g)]', ['generator', 0]],
  ['a generator as the value', '(i for i in iter(int, 1))', anything],
  ['an iterator without end', 'import itertools\nitertools.count()', shown('count(0)')],
  ['a weak reference', 'import weakref\nclass A: pass\na = A()\n[weakref.ref(a)]', anything],
  ['a weak proxy of something gone', 'import weakref\nclass A: pass\n[weakref.proxy(A())]', anything],
  ['a module', 'import sys\n[sys]', anything],
  ['all modules', 'import sys\n[dict(sys.modules)]', anything],
  ['its own globals', 'x = 1\nglobals()["x"]', 1],
  ['its globals as the value', '[globals()]', anything],
  ['the frame of the harness', 'import sys\n[sys._getframe(1)]', anything],
  ['everything that the collector knows', 'import gc\n[gc.get_objects()]', anything, { isCut: 'either' }],
  ['a lock and a file', 'import threading\n[threading.Lock(), open("/dev/null")]', anything],
  ['a coroutine that nobody awaits', 'async def f(): pass\nc = f()\nr = [c]\nc.close()\nr', anything],
  [
    'a dict that a thread changes',
    'import threading\nd = {i: i for i in range(5000)}\ndef change():\n    i = 0\n    while True:\n        i += 1\n        d[i % 9000] = d.pop((i * 7) % 9000, None)\nthreading.Thread(target=change, daemon=True).start()\nd',
    anything,
  ],
  [
    'a list that a thread empties',
    'import threading\na = [[i] for i in range(100_000)]\nthreading.Thread(target=a.clear, daemon=True).start()\na',
    anything,
  ],
  ['a class', 'class A: pass\n[A, type, int]', anything],
  ['NotImplemented and Ellipsis', '[NotImplemented, ...]', [shown('NotImplemented'), shown('Ellipsis')]],
  ['an exception with arguments of every kind', 'ValueError(1, [2], {3})', anything],
  [
    'an exception whose __dict__ was replaced',
    'e = ValueError("v")\ne.__dict__ = {1: 2, "a": 3}\ne',
    anything,
  ],
  [
    'a hash that changes',
    'class K:\n    n = 0\n    def __hash__(self):\n        K.n += 1\n        return K.n\n    __repr__ = lambda _: "k"\n{K(): 1}',
    anything,
  ],
  [
    'a codec handler replaced',
    'import codecs\ncodecs.register_error("backslashreplace", lambda e: ("", e.end))\n["a\\ud800"]',
    anything,
  ],
  [
    'names of the harness replaced',
    'import gc\nfor f in gc.get_objects():\n    if type(f) is dict and f.get("__name__") == "guest_leaves": f["quote"] = None\n[1]',
    anything,
  ],
]

export const pythonValues = { liars, shapes, alive }
