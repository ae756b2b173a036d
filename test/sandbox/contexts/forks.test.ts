/** Forks of code contexts: both have the same state, are independent from then on, and are refused if that is impossible. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { CodeContext, HostFunction } from '../../../src/index.ts'
import { valueOf } from './use-contexts.ts'
import { describeForks, forked, remove } from './use-forks.ts'

await describeForks((sandbox) => {
  test('a fork has the variables, imports and functions, and is independent from then on', async () => {
    await using both = await forked(
      sandbox,
      'import math\nrows = [1, 2]\ndata = bytearray(8 << 20)\ndef double(n): return 2 * n',
    )
    const { origin, fork } = both
    assert.equal(fork.language, 'python')
    assert.notEqual(fork.id, origin.id)
    assert.equal(
      await valueOf(fork.runCode('rows.append(3); data[5] = 7; double(sum(rows)) + math.floor(1.5)')),
      13,
    )
    assert.deepEqual(await valueOf(origin.runCode('[rows, data[5]]')), [[1, 2], 0])
    await valueOf(origin.runCode('rows.clear(); data[5] = 9'))
    assert.deepEqual(await valueOf(fork.runCode('[rows, data[5]]')), [[1, 2, 3], 7])
  })

  test('the fork is made after the code that was given before', async () => {
    const origin = await sandbox.createCodeContext()
    const first = origin.runCode('import time\ntime.sleep(0.05)\nx = 1')
    const asked = origin.fork({ id: 'later' })
    const last = origin.runCode('x = 2')
    const fork = await asked
    assert.equal(await valueOf(fork.runCode('x')), 1)
    await Promise.all([first, last].map(valueOf))
    assert.equal(await valueOf(origin.runCode('x')), 2)
    assert.equal(sandbox.getCodeContext('later')?.id, fork.id)
    await remove(sandbox, origin, fork)
  })

  test('open files are read from the same offset, independently', async () => {
    await sandbox.writeFile('/workspace/lines', 'one\ntwo\nthree\n')
    await using both = await forked(
      sandbox,
      'source = open("/workspace/lines", "rb", buffering=0)\nsource.read(4)\nlog = open("/workspace/log", "a")',
    )
    assert.equal(await valueOf(both.fork.runCode('source.read().decode()')), 'two\nthree\n')
    assert.equal(await valueOf(both.origin.runCode('source.read(4).decode()')), 'two\n')
    for (const context of [both.fork, both.origin])
      await valueOf(context.runCode('_ = log.write("line\\n"); log.flush()'))
    assert.equal(await sandbox.readFile('/workspace/log'), 'line\nline\n')
  })

  test('random numbers differ: those of the language, of numpy if installed, and of the kernel', async () => {
    const code = `import random, uuid, secrets
try:
    import numpy
except ImportError:
    numpy = None
def draw(): return [random.random(), str(uuid.uuid4()), secrets.token_hex(8), numpy and float(numpy.random.rand())]`
    await using both = await forked(sandbox, code)
    const [one, other] = [
      await valueOf(both.origin.runCode('draw()')),
      await valueOf(both.fork.runCode('draw()')),
    ]
    for (const [index, drawn] of (one as unknown[]).entries())
      if (drawn !== null) assert.notEqual(drawn, (other as unknown[])[index])
  })

  test('output, displays, errors, input() and folders belong to the context that runs', async () => {
    await using both = await forked(sandbox, 'import os\nos.mkdir("/workspace/below")')
    const { origin, fork } = both
    const [here, there] = await Promise.all([
      origin.runCode('print("origin"); display("shown"); input()', { onInput: () => 'answered' }),
      fork.runCode('os.chdir("/workspace/below"); print("fork"); os.getcwd()'),
    ])
    assert.deepEqual([here.stdout, here.value, here.displays.length], ['origin\n', 'answered', 1])
    assert.deepEqual([there.stdout, there.value, there.displays.length], ['fork\n', '/workspace/below', 0])
    assert.equal(await valueOf(origin.runCode('os.getcwd()')), '/workspace')
    const failed = await fork.runCode('1 / 0')
    assert.deepEqual([failed.outcome.kind, failed.isStateKept], ['failed', true])
    assert.equal(await valueOf(fork.runCode('await __import__("asyncio").sleep(0, "waited")')), 'waited')
  })

  test('both call functions of the host, and both get variables that were set', async () => {
    const ask: HostFunction = (who) => `hello ${String(who)}`
    const origin = await sandbox.createCodeContext({ functions: { ask } })
    await valueOf(
      origin.runCode('import os, asyncio\nasync def soon(who): return await ask(who)\nawait soon("first")'),
    )
    await sandbox.setEnvVars({ FORKED: 'yes' })
    const fork = await origin.fork()
    const code = (who: string) => `[await ask("${who}"), await soon("${who}"), os.environ["FORKED"]]`
    const values = await Promise.all([origin.runCode(code('one')), fork.runCode(code('two'))].map(valueOf))
    assert.deepEqual(values, [
      ['hello one', 'hello one', 'yes'],
      ['hello two', 'hello two', 'yes'],
    ])
    await remove(sandbox, origin, fork)
  })

  test('an interruption, a kill or an end of one does not affect the other', async () => {
    await using both = await forked(sandbox, 'import os, time\nx = 1')
    const { origin, fork } = both
    const over = origin.runCode('while not os.path.exists("/workspace/over"): time.sleep(0.01)\nx')
    assert.equal((await fork.runCode('while True: pass', { timeout: 100 })).isStateKept, true)
    const deaf = 'import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\ntime.sleep(60)'
    assert.equal((await fork.runCode(deaf, { timeout: 100 })).isStateKept, false)
    assert.equal((await fork.runCode('x')).outcome.kind, 'failed')
    await sandbox.writeFile('/workspace/over', '')
    assert.equal(await valueOf(over), 1)
    const second = await origin.fork()
    await origin.restart()
    assert.equal((await origin.runCode('x')).outcome.kind, 'failed')
    const third = await second.fork()
    await sandbox.deleteCodeContext(second.id)
    assert.equal(await valueOf(third.runCode('x')), 1)
    await remove(sandbox, third)
  })

  test('running threads, programs or tasks prevent it, and the error names them; afterwards it works', async () => {
    const obstacles: [string, string, RegExp][] = [
      [
        'import threading\ngo = threading.Event()\nt = threading.Thread(target=go.wait)\nt.start()',
        'go.set(); t.join()',
        /threads/,
      ],
      ['import subprocess\np = subprocess.Popen(["sleep", "1000"])', 'p.kill(); p.wait()', /[Pp]rograms/],
      [
        'import asyncio\ntask = asyncio.ensure_future(asyncio.sleep(1000)) if await asyncio.sleep(0, True) else 0',
        'task.cancel()\nawait asyncio.sleep(0)',
        /tasks/,
      ],
    ]
    const context = await sandbox.createCodeContext()
    for (const [begin, end, reason] of obstacles) {
      await valueOf(context.runCode(begin))
      await assert.rejects(context.fork(), { code: 'FORK_REFUSED', kind: 'refusal', message: reason })
      await context.runCode(end)
      await remove(sandbox, await context.fork())
    }
    await remove(sandbox, context)
  })

  test('an interpreter that has ended cannot be forked; after the next code it can', async () => {
    const context = await sandbox.createCodeContext()
    await context.runCode('import os; os._exit(0)')
    await assert.rejects(context.fork(), {
      code: 'FORK_REFUSED',
      message: /The next code starts a fresh one\.$/,
    })
    assert.equal(await valueOf(context.runCode('1 + 1')), 2)
    await remove(sandbox, await context.fork())
    await remove(sandbox, context)
  })

  test('JavaScript and TypeScript cannot be forked, which is said at once', async () => {
    for (const language of ['javascript', 'typescript'] as const) {
      const context = await sandbox.createCodeContext({ language })
      await assert.rejects(context.fork(), {
        code: 'FORK_REFUSED',
        message: /Node has several threads/,
      })
      assert.equal(await valueOf(context.runCode('1 + 1')), 2)
      await remove(sandbox, context)
    }
  })

  test('names are checked and reserved like those of other contexts', async () => {
    await using both = await forked(sandbox, 'x = 1')
    const { origin, fork } = both
    await assert.rejects(origin.fork({ id: fork.id }), { code: 'INVALID_REQUEST' })
    await assert.rejects(origin.fork({ id: '../a' }), { code: 'INVALID_REQUEST' })
    await assert.rejects(origin.fork({ memory: 1 } as object), { code: 'INVALID_REQUEST' })
    await sandbox.deleteCodeContext(origin.id)
    await assert.rejects(origin.fork(), { code: 'CONTEXT_GONE' })
    assert.equal(await valueOf(fork.runCode('x')), 1)
  })

  test('the number of nested forks is bounded, the error says so, and a fork counts as a context', async () => {
    const origin = await sandbox.createCodeContext()
    const forks: CodeContext[] = []
    const forkOn = async () => {
      for (;;) forks.push(await origin.fork())
    }
    await assert.rejects(forkOn, { code: 'FORK_REFUSED', message: /no more than 16 nested Landlock domains/ })
    assert.ok(forks.length >= 10, String(forks.length))
    assert.equal(sandbox.listCodeContexts().length, forks.length + 1)
    const more = await Promise.allSettled(Array.from({ length: 64 }, async () => forks[0]?.fork()))
    const codes = new Set(
      more.map((one) => (one.status === 'rejected' ? (one.reason as { code: string }).code : 'forked')),
    )
    assert.ok(codes.has('forked') && codes.has('QUEUE_FULL'), [...codes].join())
    assert.ok(sandbox.listCodeContexts().length <= 64)
    assert.equal(await valueOf(origin.runCode('1 + 1')), 2)
    await Promise.all(sandbox.listCodeContexts().map(({ id }) => sandbox.deleteCodeContext(id)))
  })
})
