/** Uncaught exceptions and code that does not compile: what the host receives, and what stderr shows. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { errorOf, evaluate } from './expect-guest.ts'
import { harnessFolder, runGuest } from './guest-process.ts'

/** Python 3.11 and later underline the position in a line. */
function withoutMarks(text: string): string {
  return text.replace(/^[ |]*[~^]+\n/gm, '')
}

async function failure(code: string, files: Readonly<Record<string, string>> = {}) {
  const run = await runGuest(code, { files })
  assert.equal(run.exitCode, 1)
  assert.ok(!run.stderr.includes(harnessFolder), run.stderr)
  assert.ok(!run.stderr.includes('guest'), run.stderr)
  const error = errorOf(run)
  assert.equal(error.stack, run.stderr)
  return { ...error, shown: withoutMarks(run.stderr), stdout: run.stdout }
}

suite('uncaught exceptions of Python programs', { concurrency: 4 }, () => {
  test('show the frames and lines of the guest and name the innermost line', async () => {
    const error = await failure('def divide(a):\n    return a / 0\n\ndivide(1)\n')
    assert.deepEqual(
      [error.phase, error.name, error.message, error.line],
      ['run', 'ZeroDivisionError', 'division by zero', 2],
    )
    assert.equal(
      error.shown,
      'Traceback (most recent call last):\n  File "<code>", line 4, in <module>\n    divide(1)\n' +
        '  File "<code>", line 2, in divide\n    return a / 0\nZeroDivisionError: division by zero\n',
    )
  })

  test('give the column where the interpreter knows it', async () => {
    const knowsColumns = (await evaluate('import sys\nsys.version_info >= (3, 11)')).value
    const { column } = await failure('x = "é"; y = 1 / 0')
    assert.equal(column, knowsColumns === true ? 14 : undefined)
  })

  test('show causes and contexts', async () => {
    const { shown, name, message, line } = await failure(`
try:
    try:
        [][1]
    except IndexError as error:
        raise KeyError("k") from error
except KeyError:
    raise RuntimeError("last")`)
    assert.deepEqual([name, message, line], ['RuntimeError', 'last', 8])
    assert.match(shown, /IndexError: .*direct cause.*KeyError: 'k'.*During handling.*RuntimeError: last\n$/s)
    assert.match(shown, /line 4, in <module>\n {4}\[\]\[1\]\n/)
  })

  test('leave out frames of the library and the event loop', async () => {
    for (const code of [
      'import json\njson.loads("{")',
      'import asyncio, json\nawait asyncio.sleep(0)\njson.loads("{")',
    ]) {
      const { shown, name } = await failure(code)
      assert.equal(name, 'JSONDecodeError')
      assert.equal(shown.match(/File /g)?.length, 1)
      assert.match(shown, /\njson\.decoder\.JSONDecodeError: Expecting/)
    }
  })

  test('show frames of workspace modules, and name the line of the code that called them', async () => {
    const { shown, line } = await failure('import broken\n\nbroken.fail()', {
      'broken.py': 'def fail():\n    raise ValueError("in module")\n',
    })
    assert.equal(line, 3)
    assert.match(
      shown,
      /broken\.py", line 2, in fail\n {4}raise ValueError\("in module"\)\nValueError: in module\n$/,
    )
  })

  test('are reported for endless recursion', async () => {
    const { name, line, shown } = await failure('def f():\n    f()\nf()')
    assert.deepEqual([name, line], ['RecursionError', 2])
    assert.match(shown, /\[Previous line repeated \d+ more times\]/)
  })

  test('are reported if memory has run out', async () => {
    for (const grow of [
      'def f():\n    while True: kept.append(" " * 700 + str(len(kept)))\nf()',
      'while True: kept.append(object())',
    ]) {
      const error = await failure(
        `import resource\nresource.setrlimit(resource.RLIMIT_DATA, (100 << 20,) * 2)\nkept = []\n${grow}`,
      )
      assert.equal(error.name, 'MemoryError')
      assert.match(error.shown, /kept\.append/)
    }
  })

  test('are reported if no descriptor is left', async () => {
    const { name, shown, line } = await failure(
      'import os\nkept = []\nwhile True:\n    kept.append(os.open("/", os.O_RDONLY))',
    )
    assert.deepEqual([name, line], ['OSError', 4])
    assert.match(shown, /kept\.append\(os\.open\("\/", os\.O_RDONLY\)\)\nOSError: \[Errno 24\]/)
  })

  test('are printed after the output of the program', async () => {
    const { stdout } = await failure('print("incomplete", end="")\n1 / 0')
    assert.equal(stdout, 'incomplete')
  })

  test('go to the hook that the guest set, without a frame of the harness', async () => {
    const code =
      'import sys\nsys.excepthook = lambda kind, error, trace: print(kind.__name__, trace.tb_frame.f_code.co_filename)\n1 / 0'
    const run = await runGuest(code)
    assert.equal(run.stdout, 'ZeroDivisionError <code>\n')
    assert.equal(run.stderr, '')
    assert.equal(run.exitCode, 1)
    assert.equal(errorOf(run).name, 'ZeroDivisionError')
  })

  test('that are not exceptions are refused by the hooks as by the interpreter', async () => {
    const { stderr, stdout, exitCode } = await runGuest(
      'import sys\nsys.excepthook(1, "no error", 1)\ntry: sys.unraisablehook(ValueError(42))\nexcept TypeError as error: print(error)',
    )
    assert.match(stderr, /^TypeError: print_exception\(\): Exception expected for value, str found\n$/)
    assert.match(stdout, /UnraisableHookArgs/)
    assert.equal(exitCode, 0)
  })

  test('are reported even if the hook itself fails', async () => {
    const run = await runGuest('import sys\nsys.excepthook = None\n1 / 0')
    assert.match(
      run.stderr,
      /^Error in sys\.excepthook: TypeError: .*\nTraceback .*ZeroDivisionError: division by zero\n$/s,
    )
    assert.equal(errorOf(run).line, 3)
  })

  test('show groups where the interpreter has them', async () => {
    const hasGroups = (await evaluate('import sys\nsys.version_info >= (3, 11)')).value
    const error = await failure(
      'raise ExceptionGroup("several", [ValueError(1), ExceptionGroup("inner", [TypeError(2)])])',
    )
    assert.equal(error.name, hasGroups === true ? 'ExceptionGroup' : 'NameError')
    if (hasGroups === true)
      assert.match(error.shown, /\+ Exception Group Traceback.*\| ValueError: 1\n.*\| TypeError: 2\n/s)
  })

  test('show the source lines of the guest', async () => {
    const run = await runGuest(
      'import traceback\ntry:\n    1 / 0\nexcept ZeroDivisionError:\n    traceback.print_exc()',
    )
    assert.equal(run.exitCode, 0)
    assert.match(run.stderr, /File "<code>", line 3, in <module>\n {4}1 \/ 0\n/)
  })

  test('with a long message or a deep stack stay bounded', async () => {
    const long = await runGuest('raise ValueError("é" * 10**6)')
    const error = errorOf(long)
    assert.ok(Buffer.byteLength(error.message) <= 64 * 1024)
    assert.ok(Buffer.byteLength(error.stack ?? '') <= 64 * 1024)
    // stderr has all of it, and the source line.
    assert.equal(long.stderr.match(/é/g)?.length, 10 ** 6 + 1)
  })
})

const syntaxErrors: readonly (readonly [code: string, line: number, column: number])[] = [
  ['x = 1\ny = = 2', 2, 5],
  ['é = "é"; a b', 1, 10],
  ['def f():\nreturn 1', 2, 1],
  ['x = 1\nreturn x', 2, 1],
  ['async def f(): pass\ndef g(): await f()', 2, 10],
  ['  x = 1', 1, 3],
]

suite('Python code that does not compile', { concurrency: 4 }, () => {
  for (const [code, line, column] of syntaxErrors) {
    test(`${JSON.stringify(code)} is a syntax error at ${line}:${column}, shown as Python does`, async () => {
      const error = await failure(code)
      assert.equal(error.phase, 'syntax')
      assert.match(error.name, /^(Syntax|Indentation)Error$/)
      assert.equal(error.line, line)
      // The exact column differs by one or two between versions of the interpreter.
      assert.ok(Math.abs((error.column ?? -9) - column) <= 2, String(error.column))
      assert.match(
        error.stack ?? '',
        /^ {2}File "<code>", line \d\n {4}.*\n( +\^+\n)?(Syntax|Indentation)Error: /,
      )
      assert.ok(error.stack?.trimEnd().endsWith(`Error: ${error.message}`))
    })
  }

  test('runs nothing of it', async () => {
    assert.equal((await failure('print("ran")\n"x" = 1')).stdout, '')
    assert.equal((await failure('print("ran")\n(yield)\nbreak')).stdout, '')
  })

  test('ends cleanly however it is made', async () => {
    for (const code of [
      '('.repeat(200_000),
      `${'-'.repeat(100_000)}1`,
      `${'lambda:'.repeat(20_000)}1`,
      `x = ${'1+'.repeat(100_000)}1`,
      'a\0b',
      '"\ud800"',
    ]) {
      const run = await runGuest(code)
      // At worst the interpreter crashes with a stack overflow; it never hangs or reports success.
      assert.ok(
        run.signal !== null || (run.exitCode === 1 && errorOf(run).phase === 'syntax'),
        `${run.exitCode}`,
      )
    }
  })
})
