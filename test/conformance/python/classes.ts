/** The language reference: the data model, classes and the main module. */
import type { PythonCase } from './case.ts'

export const classes: readonly PythonCase[] = [
  {
    feature: 'method resolution order and super()',
    code: 'class A:\n    def who(self): return ["A"]\nclass B(A):\n    def who(self): return ["B", *super().who()]\nclass C(A):\n    def who(self): return ["C", *super().who()]\nclass D(B, C): pass\n[D().who(), [k.__name__ for k in D.__mro__]]',
    value: [
      ['B', 'C', 'A'],
      ['D', 'B', 'C', 'A', 'object'],
    ],
  },
  {
    feature: 'properties and their setters',
    code: 'class T:\n    def __init__(self): self._c = 0\n    @property\n    def f(self): return self._c * 9 / 5 + 32\n    @f.setter\n    def f(self, value): self._c = (value - 32) * 5 / 9\nt = T()\nt.f = 212\n[t._c, t.f]',
    value: [100, 212],
  },
  {
    feature: 'special methods of operators',
    code: 'class V:\n    def __init__(self, *n): self.n = n\n    def __add__(self, o): return V(*map(sum, zip(self.n, o.n)))\n    def __rmul__(self, k): return V(*(k * x for x in self.n))\n    def __eq__(self, o): return self.n == o.n\n    def __getitem__(self, i): return self.n[i]\n    def __len__(self): return len(self.n)\n    def __bool__(self): return any(self.n)\n    def __contains__(self, x): return x in self.n\n    def __call__(self): return "called"\nv = 2 * (V(1, 2) + V(3, 4))\n[v[1], len(v), bool(V(0)), 8 in v, v == V(8, 12), v()]',
    value: [12, 2, false, true, true, 'called'],
  },
  {
    feature: 'repr of the value of a program',
    code: 'class Named:\n    def __repr__(self): return "Named(1)"\nNamed()',
    value: { $type: 'Unserializable', text: 'Named(1)' },
  },
  {
    feature: 'descriptors and __set_name__',
    code: 'class Positive:\n    def __set_name__(self, owner, name): self.name = name\n    def __get__(self, obj, kind=None): return obj.__dict__[self.name]\n    def __set__(self, obj, value):\n        if value < 0: raise ValueError(self.name)\n        obj.__dict__[self.name] = value\nclass Account:\n    balance = Positive()\na = Account()\na.balance = 5\ntry:\n    a.balance = -1\nexcept ValueError as e:\n    print(e)\na.balance',
    stdout: 'balance\n',
    value: 5,
  },
  {
    feature: 'metaclasses and __init_subclass__',
    code: 'class Meta(type):\n    def __new__(m, name, bases, ns, **k): return super().__new__(m, name, bases, {**ns, "made": name.lower()}, **k)\nclass Base(metaclass=Meta):\n    seen = []\n    def __init_subclass__(cls, /, tag=None, **k): cls.seen.append(tag)\nclass One(Base, tag="x"): pass\n[One.made, Base.seen]',
    value: ['one', ['x']],
  },
  {
    feature: '__slots__',
    code: 'class P:\n    __slots__ = ("x",)\np = P()\np.x = 1\np.y = 2',
    exitCode: 1,
    stderr: /AttributeError: 'P' object has no attribute 'y'/,
    error: { name: 'AttributeError', line: 5 },
  },
  {
    feature: '__getattr__ and __getattribute__',
    code: 'class Lazy:\n    def __getattr__(self, name):\n        if name.startswith("_"): raise AttributeError(name)\n        return name * 2\nlazy = Lazy()\nlazy.real = 1\n[lazy.ab, lazy.real]',
    value: ['abab', 1],
  },
  {
    feature: '__class_getitem__ and generic classes',
    code: 'from typing import Generic, TypeVar\nT = TypeVar("T")\nclass Box(Generic[T]):\n    pass\nstr(Box[int])',
    value: '__main__.Box[int]',
  },
  {
    feature: 'abstract base classes',
    code: 'from abc import ABC, abstractmethod\nclass Shape(ABC):\n    @abstractmethod\n    def area(self): ...\nShape()',
    exitCode: 1,
    stderr: /TypeError: Can't instantiate abstract class Shape/,
    error: { name: 'TypeError', line: 5 },
  },
  {
    feature: '__del__ when the last reference goes, and at the end',
    code: 'class R:\n    def __init__(self, name): self.name = name\n    def __del__(self): print("del", self.name)\na = R("a")\ndel a\nb = R("b")\nprint("end")',
    stdout: 'del a\nend\ndel b\n',
  },
  {
    feature: 'garbage collection of cycles',
    code: 'import gc, weakref\nclass Node: pass\nn = Node()\nn.me = n\nr = weakref.ref(n)\ndel n\ngc.collect()\nr() is None',
    value: true,
  },
  {
    feature: 'pickle of classes that the program defines',
    code: 'import pickle\nclass Point:\n    def __init__(self, x): self.x = x\nback = pickle.loads(pickle.dumps(Point(3)))\n[type(back) is Point, back.x, Point.__module__, Point.__qualname__]',
    value: [true, 3, '__main__', 'Point'],
  },
  {
    feature: 'inspect.getsource of functions and classes',
    code: 'import inspect\ndef f(x):\n    return x + 1  # one\n\nclass C:\n    y = 2\n\n[inspect.getsource(f), inspect.getsource(C), inspect.getsourcelines(f)[1]]',
    value: ['def f(x):\n    return x + 1  # one\n', 'class C:\n    y = 2\n', 2],
  },
  {
    feature: 'the main module',
    code: 'import sys, __main__, os\n[__name__, sys.modules["__main__"] is __main__, __main__.__dict__ is globals(), os.path.dirname(os.path.abspath(__file__)), sys.argv, __spec__]',
    request: { args: ['--flag', 'x y'] },
    value: ['__main__', true, true, '/workspace', ['<code>', '--flag', 'x y'], null],
  },
  {
    feature: 'the guard of a main program',
    code: 'def main():\n    print("main")\n\nif __name__ == "__main__":\n    main()',
    stdout: 'main\n',
  },
  {
    feature: 'exec and eval with names of their own',
    code: 'names = {}\nexec("x = 1\\ndef f(): return x + 1", names)\n[eval("f() * 10", names), "x" in globals()]',
    value: [20, false],
  },
  {
    feature: 'dataclasses',
    code: 'from dataclasses import dataclass, field, replace, asdict\n@dataclass(order=True, frozen=True)\nclass Item:\n    price: float\n    name: str = field(compare=False, default="?")\n    tags: list = field(default_factory=list)\na = Item(1.5, "a")\n[repr(a), a < Item(2), asdict(replace(a, name="b"))]',
    value: ["Item(price=1.5, name='a', tags=[])", true, { price: 1.5, name: 'b', tags: [] }],
  },
  {
    feature: 'keyword-only dataclasses with slots',
    since: [3, 10],
    code: 'from dataclasses import dataclass\n@dataclass(kw_only=True, slots=True)\nclass P:\n    x: int\np = P(x=1)\n[p.x, hasattr(p, "__dict__")]',
    value: [1, false],
  },
  {
    feature: 'enumerations',
    code: 'from enum import Enum, Flag, auto\nclass Color(Enum):\n    RED = 1\n    BLUE = auto()\nclass Perm(Flag):\n    R = auto()\n    W = auto()\n[Color(2).name, Color["RED"].value, [c.name for c in Color], (Perm.R | Perm.W).value, Perm.R in (Perm.R | Perm.W)]',
    value: ['BLUE', 1, ['RED', 'BLUE'], 3, true],
  },
  {
    feature: 'StrEnum',
    since: [3, 11],
    code: 'from enum import StrEnum, auto\nclass Mode(StrEnum):\n    READ = auto()\n[f"{Mode.READ}", Mode.READ == "read"]',
    value: ['read', true],
  },
]
