/** The library reference: data types, numbers, text and files. */
import { type PythonCase, bytes, tuple } from './case.ts'

export const library: readonly PythonCase[] = [
  {
    feature: 'collections',
    code: 'from collections import Counter, defaultdict, deque, namedtuple, ChainMap\nP = namedtuple("P", "x y")\nd = defaultdict(list)\nd["a"].append(1)\nq = deque([1, 2, 3], maxlen=2)\n[Counter("abca").most_common(1), d, list(q), P(1, 2)._asdict(), ChainMap({"a": 1}, {"b": 2})["b"]]',
    value: [[tuple('a', 2)], { a: [1] }, [2, 3], { x: 1, y: 2 }, 2],
  },
  {
    feature: 'itertools',
    code: 'import itertools as i\n[list(i.chain("ab", [1])), list(i.islice(i.count(10, 5), 2)), ["".join(p) for p in i.permutations("abc", 2)][:3], [k + str(len(list(g))) for k, g in i.groupby("aab")], list(i.accumulate([1, 2, 3]))]',
    value: [
      ['a', 'b', 1],
      [10, 15],
      ['ab', 'ac', 'ba'],
      ['a2', 'b1'],
      [1, 3, 6],
    ],
  },
  {
    feature: 'itertools.pairwise',
    since: [3, 10],
    code: 'import itertools\nlist(itertools.pairwise("abc"))',
    value: [tuple('a', 'b'), tuple('b', 'c')],
  },
  {
    feature: 'functools',
    code: 'import functools\n@functools.lru_cache(maxsize=None)\ndef fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)\n@functools.singledispatch\ndef kind(x): return "other"\n@kind.register\ndef _(x: int): return "int"\n[fib(80), fib.cache_info().hits > 0, kind(1), kind("s"), functools.reduce(lambda a, b: a * b, [1, 2, 3, 4]), functools.partial(pow, exp=2)(5)]',
    value: [{ $type: 'BigInt', value: '23416728348467685' }, true, 'int', 'other', 24, 25],
  },
  {
    feature: 'decimal and fractions',
    code: 'from decimal import Decimal, getcontext\nfrom fractions import Fraction\ngetcontext().prec = 6\n[Decimal(1) / Decimal(7), str(Fraction(1, 3) + Fraction(1, 6)), Decimal("1.10") + Decimal("2.2")]',
    value: [{ $type: 'Decimal', value: '0.142857' }, '1/2', { $type: 'Decimal', value: '3.30' }],
  },
  {
    feature: 'statistics and math',
    code: 'import math, statistics\n[statistics.mean([1, 2, 3, 4]), statistics.median([5, 1, 3]), math.gcd(12, 18), math.isqrt(17), math.comb(5, 2), math.hypot(3, 4), round(math.e, 2)]',
    value: [2.5, 3, 6, 4, 10, 5, 2.72],
  },
  {
    feature: 'datetime and zoneinfo',
    since: [3, 9],
    code: 'from datetime import datetime, timedelta, timezone\nfrom zoneinfo import ZoneInfo\nt = datetime(2024, 7, 1, 12, tzinfo=ZoneInfo("Europe/Berlin"))\n[t, t.astimezone(timezone.utc).isoformat(), (t + timedelta(days=200)).utcoffset(), t.strftime("%A %d %B %Y")]',
    value: [
      { $type: 'datetime', value: '2024-07-01T12:00:00+02:00' },
      '2024-07-01T10:00:00+00:00',
      { $type: 'timedelta', value: 3600 },
      'Monday 01 July 2024',
    ],
  },
  {
    feature: 'the time zone of a guest',
    code: 'import time, datetime\n[time.tzname, time.timezone, datetime.datetime.fromtimestamp(0).isoformat()]',
    value: [tuple('UTC', 'UTC'), 0, '1970-01-01T00:00:00'],
  },
  {
    feature: 'json',
    code: 'import json\n[json.loads(\'{"a": [1, 2.5, null, true, "\\\\u00e9"]}\'), json.dumps({"b": (1, None), "a": "é"}, sort_keys=True), json.dumps(float("nan"))]',
    value: [{ a: [1, 2.5, null, true, 'é'] }, '{"a": "\\u00e9", "b": [1, null]}', 'NaN'],
  },
  {
    feature: 'regular expressions',
    code: 'import re\n[re.findall(r"(\\w)(\\d)", "a1 b2"), re.sub(r"(?P<x>\\d+)", r"<\\g<x>>", "a12"), re.match(r"(?i)HE", "hello").span(), re.split(r"[,;]\\s*", "a, b;c")]',
    value: [[tuple('a', '1'), tuple('b', '2')], 'a<12>', tuple(0, 2), ['a', 'b', 'c']],
  },
  {
    feature: 'atomic groups in regular expressions',
    since: [3, 11],
    code: 'import re\n[re.match(r"(?>a+)b", "aab") is not None, re.match(r"a++a", "aaa") is None]',
    value: [true, true],
  },
  {
    feature: 'csv and io',
    code: 'import csv, io\nout = io.StringIO()\ncsv.writer(out).writerows([["a,b", 1], [\'q"\', 2]])\n[out.getvalue(), list(csv.DictReader(io.StringIO("x,y\\n1,2\\n")))]',
    value: ['"a,b",1\r\n"q""",2\r\n', [{ x: '1', y: '2' }]],
  },
  {
    feature: 'pathlib and files of the workspace',
    code: 'from pathlib import Path\nPath("out").mkdir()\nPath("out/b.txt").write_text("é", encoding="utf-8")\n[Path("data.txt").read_text().splitlines(), sorted(str(p) for p in Path(".").rglob("*.txt")), Path("out/b.txt").stat().st_size, str(Path.cwd()), str(Path.home())]',
    request: { files: { 'data.txt': 'one\ntwo\n' } },
    value: [['one', 'two'], ['data.txt', 'out/b.txt'], 2, '/workspace', '/workspace'],
  },
  {
    feature: 'files beside __file__',
    code: 'import os\nos.chdir("/tmp")\nopen(os.path.join(os.path.dirname(os.path.abspath(__file__)), "data.txt")).read()',
    request: { files: { 'data.txt': 'beside' } },
    value: 'beside',
  },
  {
    feature: 'tempfile, shutil and zipfile',
    code: 'import tempfile, shutil, zipfile, os\nwith tempfile.TemporaryDirectory() as folder:\n    with zipfile.ZipFile(folder + "/a.zip", "w", zipfile.ZIP_DEFLATED) as z:\n        z.writestr("x/y.txt", "zipped" * 100)\n    shutil.unpack_archive(folder + "/a.zip", folder)\n    text = open(folder + "/x/y.txt").read()\n[len(text), os.path.exists(folder), tempfile.gettempdir()]',
    value: [600, false, '/tmp'],
  },
  {
    feature: 'sqlite3',
    code: 'import sqlite3\nwith sqlite3.connect("db.sqlite") as db:\n    db.execute("create table t (name text, n int)")\n    db.executemany("insert into t values (?, ?)", [("a", 1), ("b", 2)])\ndb.execute("select name, sum(n) over (order by n) from t").fetchall()',
    value: [tuple('a', 1), tuple('b', 3)],
  },
  {
    feature: 'struct, array and memoryview',
    code: 'import struct, array\na = array.array("h", [1, -2])\nm = memoryview(bytearray(b"abcd"))\nm[1:3] = b"XY"\n[struct.pack(">IHb", 1, 2, -3), struct.unpack("<d", b"\\0" * 6 + b"\\xf0\\x3f"), a.tolist(), bytes(m)]',
    value: [bytes('\u0000\u0000\u0000\u0001\u0000\u0002\u00fd'), tuple(1), [1, -2], bytes('aXYd')],
  },
  {
    feature: 'hashlib, hmac, base64 and zlib',
    code: 'import hashlib, hmac, base64, zlib\n[hashlib.sha256(b"abc").hexdigest()[:8], hmac.new(b"k", b"m", "sha1").hexdigest()[:8], base64.b64encode(b"\\xff\\x00").decode(), zlib.decompress(zlib.compress(b"x" * 50)).decode()[:3], zlib.crc32(b"abc")]',
    value: ['ba7816bf', '772b71c8', '/wA=', 'xxx', 891568578],
  },
  {
    feature: 'random with a seed',
    code: 'import random\nrandom.seed(42)\nfirst = [random.random(), random.randint(1, 6), random.sample(range(100), 3)]\nrandom.seed(42)\n[first == [random.random(), random.randint(1, 6), random.sample(range(100), 3)], first[0]]',
    value: [true, 0.6394267984578837],
  },
  {
    feature: 'textwrap, string and unicodedata',
    code: 'import textwrap, string, unicodedata\n[textwrap.fill("the quick brown fox", 10), textwrap.dedent("  a\\n    b"), string.Template("$x!").substitute(x=1), unicodedata.name("é"), unicodedata.normalize("NFD", "é") == "e\\u0301", "ß".casefold(), "İ".lower() == "i\\u0307"]',
    value: ['the quick\nbrown fox', 'a\n  b', '1!', 'LATIN SMALL LETTER E WITH ACUTE', true, 'ss', true],
  },
  {
    feature: 'heapq, bisect, copy and operator',
    code: 'import heapq, bisect, copy, operator\nh = [5, 1, 4]\nheapq.heapify(h)\na = [[1]]\nb, c = copy.copy(a), copy.deepcopy(a)\na[0].append(2)\n[heapq.heappop(h), heapq.nlargest(2, h), bisect.bisect([1, 3, 5], 3), b, c, sorted([{"k": 2}, {"k": 1}], key=operator.itemgetter("k"))]',
    value: [1, [5, 4], 2, [[1, 2]], [[1]], [{ k: 1 }, { k: 2 }]],
  },
  {
    feature: 'argparse and its exit code',
    code: 'import argparse\nparser = argparse.ArgumentParser(prog="tool")\nparser.add_argument("--n", type=int, default=1)\nprint(parser.parse_args().n)\nparser.parse_args(["--n", "x"])',
    request: { args: ['--n', '5'] },
    stdout: '5\n',
    stderr: "usage: tool [-h] [--n N]\ntool: error: argument --n: invalid int value: 'x'\n",
    exitCode: 2,
  },
  {
    feature: 'logging',
    code: 'import logging\nlogging.basicConfig(format="%(levelname)s %(name)s:%(lineno)d %(message)s")\nlogging.getLogger("app").warning("careful %d", 3)\ntry:\n    1 / 0\nexcept ZeroDivisionError:\n    logging.exception("failed")',
    stderr:
      /^WARNING app:3 careful 3\nERROR root:7 failed\nTraceback .*\n {2}File "<code>", line 5, in <module>\n {4}1 \/ 0\n([ ^~]*\n)?ZeroDivisionError: division by zero\n$/,
  },
  {
    feature: 'xml, html and urllib.parse',
    code: 'import xml.etree.ElementTree as ET, html, urllib.parse as u\nroot = ET.fromstring("<a><b n=\'1\'>t</b></a>")\n[root.find("b").attrib, root.findtext("b"), html.escape("<&>"), u.urlsplit("http://h:1/p?q=1#f").port, u.quote("a b/é")]',
    value: [{ n: '1' }, 't', '&lt;&amp;&gt;', 1, 'a%20b/%C3%A9'],
  },
  {
    feature: 'tomllib',
    since: [3, 11],
    code: 'import tomllib\ntomllib.loads("[tool]\\nx = [1, 2.5]\\nd = 2024-01-02")',
    value: { tool: { x: [1, 2.5], d: { $type: 'date', value: '2024-01-02' } } },
  },
  {
    feature: 'doctest of the program itself',
    code: 'import doctest\ndef double(x):\n    """\n    >>> double(2)\n    4\n    >>> double("a")\n    \'aa\'\n    """\n    return x * 2\nlist(doctest.testmod())[:2]',
    value: [0, 2],
  },
  {
    feature: 'unittest of the program itself',
    code: 'import unittest\nclass Sums(unittest.TestCase):\n    def test_right(self): self.assertEqual(1 + 1, 2)\n    def test_wrong(self): self.assertEqual(1 + 1, 3)\nunittest.main()',
    exitCode: 1,
    stderr:
      /FAIL: test_wrong .*File "<code>", line 4, in test_wrong\n {4}def test_wrong\(self\): self\.assertEqual\(1 \+ 1, 3\)\n.*AssertionError: 2 != 3\n.*FAILED \(failures=1\)\n$/s,
  },
  {
    feature: 'ctypes',
    code: 'import ctypes\nlibc = ctypes.CDLL(None)\nclass Pair(ctypes.Structure):\n    _fields_ = [("a", ctypes.c_int), ("b", ctypes.c_short)]\n[libc.abs(-5), ctypes.sizeof(Pair), ctypes.c_uint8(300).value]',
    value: [5, 8, 44],
  },
]
