/** Guest code that attacks its interpreter changes only its own claims: every run still ends with an answer. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { errorOf, evaluate, valueOf } from './expect-guest.ts'
import { runGuest } from './guest-process.ts'

const value = '[1, "a", (2,), b"x", 2.5]'
const encoded = [1, 'a', { $type: 'tuple', value: [2] }, { $type: 'bytes', value: 'eA==' }, 2.5]

const sabotage: readonly (readonly [what: string, code: string])[] = [
  [
    'replaced every built-in',
    'import builtins\nput, names = setattr, list(vars(builtins))\nfor name in names: put(builtins, name, None)',
  ],
  ['emptied sys.modules', 'import sys\nsys.modules.clear()'],
  ['blocked every module', 'import sys\nfor name in list(sys.modules): sys.modules[name] = None'],
  ['replaced functions of os', 'import os\nos.write = os.read = os.getpid = os.set_inheritable = None'],
  [
    'replaced json',
    'import json, json.encoder, json.decoder\njson.dumps = json.loads = json.encoder.encode_basestring = None',
  ],
  ['replaced binascii', 'import binascii\nbinascii.b2a_base64 = None'],
  [
    'replaced the import machinery',
    'import sys, builtins\nsys.meta_path.clear()\nsys.path_hooks.clear()\nsys.path.clear()\nbuiltins.__import__ = None',
  ],
  ['closed its streams', 'import sys\nsys.stdout.close()\nsys.stdin.close()'],
  ['took its streams away', 'import sys\nsys.stdout = sys.stderr = sys.stdin = None'],
  ['lowered the recursion limit', 'import sys\nsys.setrecursionlimit(40)'],
  ['lowered the limit of digits', 'import sys\ngetattr(sys, "set_int_max_str_digits", print)(640)'],
  ['counts down to no descriptor', 'import os, resource\nresource.setrlimit(resource.RLIMIT_NOFILE, (4, 4))'],
  ['works in a folder that is gone', 'import os\nos.mkdir("gone"); os.chdir("gone"); os.rmdir("../gone")'],
  [
    'ignores and catches signals',
    'import signal\nfor number in range(1, 32):\n    try: signal.signal(number, lambda *_: None)\n    except OSError: pass',
  ],
  ['turned the collector off', 'import gc\ngc.disable(); gc.freeze()'],
  [
    'replaced codec error handlers',
    'import codecs\nfail = lambda error: 1 / 0\nfor name in ("strict", "replace"): codecs.register_error(name, fail)',
  ],
]

suite('a Python program that sabotages its interpreter', { concurrency: 4 }, () => {
  for (const [what, code] of sabotage) {
    test(`still has a value after it ${what}`, async () => {
      const run = await runGuest(`${code}\n${value}`)
      assert.deepEqual(valueOf(run).value, encoded)
    })

    test(`still has an error after it ${what}`, async () => {
      const run = await runGuest(`failure = KeyError("x")\n${code}\nraise failure`)
      assert.equal(run.exitCode, 1)
      const error = errorOf(run)
      assert.deepEqual([error.name, error.message], ['KeyError', "'x'"])
      assert.equal(error.line, code.split('\n').length + 2)
      assert.match(error.stack ?? '', /line \d+, in <module>\n {4}raise failure\nKeyError: 'x'\n$/)
    })
  }

  test('ends as usual after it closed the channel, without an answer', async () => {
    const run = await runGuest('import os\nos.close(3)\nprint("on")\ndisplay(1)\n[1]')
    assert.deepEqual([run.exitCode, run.stdout, run.stderr, run.messages], [0, 'on\n', '', []])
  })

  for (const setter of ['settrace', 'setprofile']) {
    test(`gets answers if its function for sys.${setter} fails`, async () => {
      const run = await runGuest(
        `import sys\ndef fail(*_): raise ValueError("traced")\nsys.${setter}(fail)\n(lambda: [1])()`,
      )
      assert.equal(run.exitCode, 1)
      assert.equal(errorOf(run).message, 'traced')
    })

    test(`has its value if its function for sys.${setter} only observes`, async () => {
      const code = `import sys\nseen = []\ndef watch(*_):\n    seen.append(1)\n    return watch\nsys.${setter}(watch)\n[1]`
      assert.deepEqual((await evaluate(code)).value, [1])
    })
  }
})

const hostileClasses = `
class Liar:
    __class__ = property(lambda self: 1 / 0)
    __dict__ = property(lambda self: 1 / 0)
    def __repr__(self): raise SystemExit(3)
    def __getattribute__(self, name): raise KeyboardInterrupt
class Meta(type):
    __mro__ = property(lambda kind: 1 / 0)
    __name__ = property(lambda kind: 1 / 0)
    __instancecheck__ = __subclasscheck__ = lambda *_: 1 / 0
class Odd(metaclass=Meta):
    __repr__ = lambda self: 5
class OddList(list):
    __iter__ = __len__ = __bool__ = __repr__ = lambda self: 1 / 0
class OddTuple(tuple):
    __iter__ = __len__ = __bool__ = __repr__ = lambda self: 1 / 0
class OddDict(dict):
    items = keys = __iter__ = __len__ = __repr__ = lambda self: 1 / 0
class OddSet(set):
    __iter__ = __len__ = __repr__ = lambda self: 1 / 0
class OddInt(int):
    __repr__ = __str__ = __add__ = __index__ = __int__ = __format__ = __le__ = __neg__ = lambda *_: 1 / 0
class OddFloat(float):
    __repr__ = __str__ = __pos__ = __ne__ = __float__ = lambda *_: 1 / 0
class OddStr(str):
    __repr__ = __str__ = __len__ = __eq__ = __iter__ = __getitem__ = lambda *_: 1 / 0
    __hash__ = str.__hash__
class OddBytes(bytes):
    __repr__ = __len__ = __getitem__ = __iter__ = lambda *_: 1 / 0
class OddError(Exception):
    __str__ = __repr__ = lambda self: 1 / 0
    __cause__ = __context__ = __traceback__ = __dict__ = args = property(lambda self: 1 / 0)
`

suite('hostile Python values', { concurrency: 4 }, () => {
  const objects: readonly (readonly [code: string, encoded: unknown])[] = [
    ['OddList([1])', [1]],
    ['OddTuple((1,))', { $type: 'tuple', value: [1] }],
    ['OddDict(a=1)', { a: 1 }],
    ['OddSet({1})', { $type: 'set', value: [1] }],
    ['OddInt(5)', 5],
    ['OddInt(2**60)', { $type: 'BigInt', value: String(2n ** 60n) }],
    ['OddFloat(2.5)', 2.5],
    ['OddStr("s")', 's'],
    ['{OddStr("$type"): 1}', { $type: 'Object', value: { $type: 1 } }],
    ['OddBytes(b"x")', { $type: 'bytes', value: 'eA==' }],
    ['Liar()', { $type: 'Unserializable', text: '<Liar whose repr raised SystemExit>' }],
    ['Odd()', { $type: 'Unserializable', text: '<Odd whose repr raised TypeError>' }],
    [
      'OddError("x")',
      { $type: 'Error', name: 'OddError', message: '<OddError whose message cannot be shown>' },
    ],
  ]
  for (const [code, expected] of objects) {
    test(`${code} is transferred, alone and inside others`, async () => {
      assert.deepEqual((await evaluate(`${hostileClasses}\n${code}`)).value, expected)
      assert.deepEqual((await evaluate(`${hostileClasses}\n[{"a": ${code}}]`)).value, [{ a: expected }])
    })
  }

  test('an uncaught exception that hides everything is still reported', async () => {
    const run = await runGuest(`${hostileClasses}\nraise OddError("x")`)
    assert.equal(run.exitCode, 1)
    assert.equal(errorOf(run).name, 'OddError')
    assert.equal(errorOf(run).line, hostileClasses.split('\n').length + 1)
  })

  test('modules that only look like datetime and decimal are not used', async () => {
    const code =
      'import sys, types\nfor name in ("datetime", "decimal"):\n    sys.modules[name] = types.SimpleNamespace(datetime=type("M", (type,), {"__subclasscheck__": lambda *_: 1 / 0})("D", (), {}), Decimal=5)\n[object]'
    assert.deepEqual((await evaluate(code)).value, [{ $type: 'Unserializable', text: "<class 'object'>" }])
  })

  test('a time zone that raises affects only its own datetime', async () => {
    const code =
      'import datetime\nclass Zone(datetime.tzinfo):\n    def utcoffset(self, when): raise SystemExit\n[datetime.datetime(2026, 1, 1, tzinfo=Zone()), 2]'
    const { value: result } = await evaluate(code)
    assert.equal((result as { $type: string }[])[0]?.$type, 'Unserializable')
    assert.equal((result as unknown[])[1], 2)
  })

  test('a container that another thread keeps changing is transferred in some state', async () => {
    const code = `
import threading
shared = {number: number for number in range(1000)}
stop = threading.Event()
def change():
    number = 0
    while not stop.is_set():
        number += 1
        shared[number % 5000] = shared.pop((number * 7) % 5000, None)
thread = threading.Thread(target=change, daemon=True)
thread.start()
shared`
    const run = await runGuest(code)
    assert.equal((valueOf(run).value as { $type: string }).$type, 'Map')
  })
})
