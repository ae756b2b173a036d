/** A program in the harness behaves like one that Python itself starts: its names, output and end. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { displaysOf, evaluate, valueOf } from './expect-guest.ts'
import { harnessFolder, runGuest } from './guest-process.ts'

suite('a Python program', { concurrency: 4 }, () => {
  test('runs as __main__ with fresh globals, without those of the harness', async () => {
    const code =
      'import sys, __main__\n[__name__, sys.modules["__main__"].__dict__ is globals(), __main__.sys is sys, sorted(globals())]'
    const names = [
      '__annotations__',
      '__builtins__',
      '__cached__',
      '__doc__',
      '__file__',
      '__loader__',
      '__main__',
      '__name__',
      '__package__',
      '__spec__',
      'input_data',
      'sys',
    ]
    assert.deepEqual((await evaluate(code)).value, ['__main__', true, true, names])
  })

  test('finds its arguments, the working folder first on the path, and no folder or module of the harness', async () => {
    const code = `
import os, sys
folder = ${JSON.stringify(harnessFolder.replace(/\/$/, ''))}
[sys.argv, sys.path[0] == os.getcwd(), folder in sys.path, [name for name in sys.modules if "guest" in name]]`
    const args = ['a b', '--x', 'é']
    assert.deepEqual((await evaluate(code, { args })).value, [['<code>', ...args], true, false, []])
  })

  test('imports modules of its workspace and leaves no bytecode there', async () => {
    const code = 'import os, greeting\n[greeting.hello("you"), sorted(os.listdir("."))]'
    const files = { 'greeting.py': 'def hello(name):\n    return f"hello {name}"\n' }
    assert.deepEqual((await evaluate(code, { files })).value, ['hello you', ['greeting.py']])
  })

  test('may await, iterate and open contexts asynchronously at its top level', async () => {
    const code = `
import asyncio, contextlib
async def count():
    for number in range(3):
        await asyncio.sleep(0)
        yield number
@contextlib.asynccontextmanager
async def opened():
    yield "open"
seen = []
async for number in count():
    seen.append(number)
async with opened() as state:
    seen.append(state)
task = asyncio.create_task(asyncio.sleep(0, "slept"))
seen + [await task, [number async for number in count()]]`
    assert.deepEqual((await evaluate(code)).value, [0, 1, 2, 'open', 'slept', [0, 1, 2]])
  })

  test('may call asyncio.run when it awaits nothing at its top level', async () => {
    assert.equal((await evaluate('import asyncio\nasync def f():\n    return 5\nasyncio.run(f())')).value, 5)
  })

  test('keeps its __future__ imports in the last expression', async () => {
    const code = 'from __future__ import annotations\n(lambda: [(x := 1), x])()\n'
    assert.deepEqual((await evaluate(code)).value, [1, 1])
    const typed = 'from __future__ import annotations\ndef f(a: Missing): pass\nf.__annotations__'
    assert.deepEqual((await evaluate(typed)).value, { a: 'Missing' })
  })

  test('may begin with a byte order mark and end its lines as it likes', async () => {
    assert.equal((await evaluate('\ufeffx = 1\r\ny = """a\r\nb"""\rx, y')).text, "(1, 'a\\nb')")
  })

  test('prints to stdout in order, all of it', async () => {
    const run = await runGuest('for number in range(10_000):\n    print(number)')
    assert.equal(run.stdout, Array.from({ length: 10_000 }, (_, number) => `${number}\n`).join(''))
    assert.ok(run.stdout.length > 48_000)
    assert.equal(run.stderr, '')
    assert.deepEqual(run.messages, [{ type: 'end', exitCode: 0 }])
  })

  test('prints an incomplete last line, too', async () => {
    assert.equal((await runGuest('print("a"); print("b", end="")')).stdout, 'a\nb')
  })

  test('has printed its lines when it is killed', async () => {
    const run = await runGuest('print("before")\ndisplay("now")\nimport time\ntime.sleep(600)', {
      onMessage: (_message, guest) => guest.kill('SIGKILL'),
    })
    assert.equal(run.signal, 'SIGKILL')
    assert.equal(run.stdout, 'before\n')
  })

  test('ends like in Python: value first, then threads, then atexit in reverse order', async () => {
    const code = `
import atexit, threading
may_end = threading.Event()
def work():
    may_end.wait()
    print("thread")
    display("late")
atexit.register(print, "first registered")
atexit.register(print, "last registered")
threading.Thread(target=work).start()
threading.Thread(target=threading.Event().wait, daemon=True).start()
threading.Timer(0.05, may_end.set).start()
print("main")
"value"`
    const run = await runGuest(code)
    assert.equal(run.exitCode, 0)
    assert.equal(run.stdout, 'main\nthread\nlast registered\nfirst registered\n')
    assert.deepEqual(
      run.messages.map((message) => message.type),
      ['value', 'display', 'end'],
    )
  })

  const oddities = {
    'a global that has no name': 'globals()[5] = 1',
    'nothing in the place of a module': 'import sys, threading\nsys.modules["threading"] = None',
    'a module that answers questions with errors':
      'import sys, types\nsys.modules["odd"] = odd = types.ModuleType("odd")\nodd.__dict__[5] = 1\n' +
      'def refuse(name):\n    raise KeyError(name)\nodd.__getattr__ = refuse',
    'an object that does so in the place of a module':
      'import sys\nclass Lazy:\n    def __getattr__(self, name):\n        raise ImportError(name)\n' +
      'sys.modules["lazy"] = Lazy()',
    'no modules at all': 'import sys\ndel sys.modules',
  }
  for (const [what, code] of Object.entries(oddities))
    test(`ends as usual if it leaves ${what}`, async () => {
      const run = await runGuest(`print("kept")\n${code}`)
      assert.deepEqual([run.exitCode, run.stdout], [0, 'kept\n'], run.stderr)
    })

  test('can report results only from its first process', async () => {
    const run = await runGuest('import os\nprint("once")\nif os.fork():\n    os.wait()\ndisplay(1)\n[2]')
    assert.equal(run.exitCode, 0)
    assert.equal(run.stdout, 'once\n')
    assert.deepEqual(valueOf(run).value, [2])
    assert.equal(displaysOf(run).length, 1)
  })

  test('does not pass the channel to programs that it starts', async () => {
    const code =
      'import subprocess\nprobe = "(: >&3) 2>/dev/null && echo open || echo closed"\n' +
      'subprocess.run(["sh", "-c", probe], capture_output=True, text=True, close_fds=False).stdout'
    assert.equal((await evaluate(code)).value, 'closed\n')
  })

  test('reads an empty standard input to its end', async () => {
    assert.equal((await evaluate('import sys\nsys.stdin.read()')).value, '')
  })
})

const exits: readonly (readonly [code: string, exitCode: number, stderr: string])[] = [
  ['sys.exit()', 0, ''],
  ['sys.exit(None)', 0, ''],
  ['sys.exit(3)', 3, ''],
  ['sys.exit(True)', 1, ''],
  ['sys.exit("gone")', 1, 'gone\n'],
  ['raise SystemExit(4)', 4, ''],
  ['exit(5)', 5, ''],
  ['import asyncio\nawait asyncio.sleep(0)\nsys.exit(6)', 6, ''],
  ['import atexit\natexit.register(print, "end")\nsys.exit(7)', 7, ''],
  ['import os\nos._exit(8)', 8, ''],
]

suite('the exit of a Python program', { concurrency: 4 }, () => {
  for (const [code, exitCode, stderr] of exits) {
    test(`${JSON.stringify(code)} ends with ${exitCode} and is no error`, async () => {
      const run = await runGuest(`import sys\nprint("kept")\n${code}`)
      assert.equal(run.exitCode, exitCode)
      assert.equal(run.stderr, stderr)
      assert.deepEqual(run.messages, [])
      assert.match(run.stdout, /^kept\n/)
    })
  }

  test('a KeyboardInterrupt ends it with 130 and a traceback', async () => {
    const run = await runGuest('import os, signal\nos.kill(os.getpid(), signal.SIGINT)\nwhile True: pass')
    assert.equal(run.exitCode, 130)
    assert.match(run.stderr, /KeyboardInterrupt\n$/)
    assert.equal(run.messages[0]?.type, 'error')
  })
})
