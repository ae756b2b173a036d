/** Whatever walks the stack finds what it finds in `python3 file`: the harness is not on it, and no warning names it. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'

import { createLazaret } from '../../support/create-lazaret.ts'
import { levelHere } from '../../support/machine/level-here.ts'
import { runParked } from '../../support/run-parked.ts'
import { whyNoSandboxes } from '../../support/sandboxes-here.ts'
import { noPools } from '../../support/use-lazaret.ts'
import { python } from './guest-process.ts'

const folder = mkdtempSync(join(tmpdir(), 'lazaret-stack-'))
chmodSync(folder, 0o755)
after(() => rmSync(folder, { recursive: true, force: true }))

interface Walk {
  readonly code: string
  readonly stdin?: string
}

const walks: Readonly<Record<string, Walk>> = {
  'a warning of the caller': { code: 'import warnings\nwarnings.warn("x", stacklevel=2)' },
  'warnings from functions, some beyond the top': {
    code: 'import warnings\ndef warn():\n    for level in range(1, 6): warnings.warn("y", stacklevel=level)\nwarn()',
  },
  'a coroutine that an error drops': {
    code: 'async def never(): pass\ndef fail(task): raise ValueError(1)\ntry: fail(never())\nexcept ValueError: pass',
  },
  'a coroutine that the last error drops': {
    code: 'async def never(): pass\ndef fail(task): raise ValueError(1)\nfail(never())',
  },
  'traceback.print_stack': {
    code: 'import traceback\ndef f(): traceback.print_stack()\nf()\ntraceback.print_stack()',
  },
  'inspect.stack': {
    code: 'import inspect, sys\nprint([(frame.filename, frame.function, frame.lineno) for frame in inspect.stack()])\nprint(sys._getframe().f_back)',
  },
  'sys._current_frames': {
    code: 'import sys\nfor frame in sys._current_frames().values():\n    while frame: print(frame.f_code.co_filename); frame = frame.f_back',
  },
  'the caller of a log message': {
    code: 'import logging\nlogging.basicConfig(format="%(pathname)s:%(lineno)d %(funcName)s")\nlogging.warning("w", stacklevel=2)\nlogging.warning("w", stack_info=True)',
  },
  faulthandler: { code: 'import faulthandler\nfaulthandler.dump_traceback(all_threads=False)' },
  'asyncio.run': {
    code: 'import asyncio, inspect\nasync def main(): print(inspect.stack()[-1].filename)\nasyncio.run(main())',
  },
  'an error at the top that is a StopIteration': { code: 'next(iter([]))' },
  'the end of the value': { code: 'class Last:\n    def __del__(self): print("gone")\nLast()' },
  pdb: { code: 'x = 1\nbreakpoint()\ny = 2\nx + y', stdin: 'n\nw\nn\nw\nc\n' },
  'sys.settrace': {
    code: 'import sys\ndef trace(frame, event, _argument):\n    print(frame.f_code.co_filename, frame.f_lineno, event)\n    return trace\nsys.settrace(trace)\nsys._getframe().f_trace = trace\n(lambda: 1)()\nsys.settrace(None)',
  },
  tracemalloc: {
    code: 'import tracemalloc\ntracemalloc.start(20)\nkept = [bytes(100)]\nprint(tracemalloc.get_object_traceback(kept[0])[0].filename, len(tracemalloc.get_object_traceback(kept[0])))',
  },
}

/** What `python3 '<code>'` prints. */
function expected({ code, stdin = '' }: Walk): string {
  writeFileSync(join(folder, '<code>'), code)
  const { stdout, stderr } = spawnSync(python, ['-I', '-X', 'utf8', '<code>'], {
    cwd: folder,
    input: stdin,
    encoding: 'utf8',
  })
  return comparable(stdout + stderr)
}

/** Without folders, addresses, the numbers of a context's code, and a hint that the interpreter omits once it shuts down. */
const comparable = (text: string): string =>
  text
    .replaceAll(`${folder}/`, '')
    .replaceAll(/0x[0-9a-f]+/g, '0x')
    .replaceAll(/<code \d+>/g, '<code>')
    .replaceAll('RuntimeWarning: Enable tracemalloc to get the object allocation traceback\n', '')

const noSandboxes = await whyNoSandboxes()
const warm = (await levelHere()) !== 'restricted'
const cold = createLazaret({ pools: noPools, toolchains: { python } })
const parked = createLazaret({ pools: { ...noPools, python: { max: 1 } }, toolchains: { python } })
after(() => Promise.all([cold.close(), parked.close()]))
const runWarm = runParked(parked)

for (const [what, walk] of Object.entries(walks))
  test(`${what}: as in python3, in a cold run${warm ? ' and in a fork' : ''}`, async () => {
    const request = { language: 'python', ...walk } as const
    const results = [await cold.run(request), ...(warm ? [await runWarm(request)] : [])]
    for (const { stdout, stderr, receipt } of results)
      assert.equal(comparable(stdout + stderr), expected(walk), receipt.start)
  })

test('and in a context', { skip: noSandboxes }, async () => {
  await using sandbox = await cold.sandbox()
  const context = await sandbox.createCodeContext()
  for (const [what, walk] of Object.entries(walks)) {
    // A context keeps the last value.
    if (walk.stdin !== undefined || walk.code.includes('__del__')) continue
    const { stdout, stderr } = await context.runCode(walk.code)
    assert.equal(comparable(stdout + stderr), expected(walk), what)
  }
  const { stderr } = await context.runCode('async def unused(): pass\nunused()')
  const next = await context.runCode('1')
  assert.match(stderr + next.stderr, /^sys:1: RuntimeWarning/)
})
