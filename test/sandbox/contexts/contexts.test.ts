/** Code contexts of a sandbox: their contract in every language. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { test } from 'node:test'

import type { HostFunction } from '../../../src/index.ts'
import { untilShown } from '../../support/patient-run.ts'
import { describeContexts, valueOf } from './use-contexts.ts'

const MiB = 1024 * 1024
const languages = ['python', 'javascript', 'typescript'] as const
const fresh = /gets a fresh context/
/** In each language: code that sets `x`, returns it, computes for ever, prints for ever. */
const set = { python: 'x = 1', javascript: 'let x = 1', typescript: 'let x: number = 1' }
const loop = { python: 'while True: pass', javascript: 'for (;;);', typescript: 'for (;;);' }

await describeContexts((sandbox) => {
  test('state persists from one piece of code to the next, and is not shared', async () => {
    const [one, other] = await Promise.all([sandbox.createCodeContext(), sandbox.createCodeContext()])
    await valueOf(one.runCode('x = 20\ndef double(n): return 2 * n'))
    assert.equal(await valueOf(one.runCode('double(x) + 2')), 42)
    const { outcome, stderr } = await other.runCode('x')
    assert.equal(outcome.kind, 'failed')
    assert.match(stderr, /NameError: name 'x' is not defined/)
    assert.equal(await valueOf(other.runCode('1 + 1')), 2)
    assert.deepEqual(await Promise.all([one, other].map(({ id }) => sandbox.deleteCodeContext(id))), [
      true,
      true,
    ])
  })

  for (const language of languages)
    test(`${language}: code runs in the order of the calls, one piece at a time`, async () => {
      const context = await sandbox.createCodeContext({ language })
      await valueOf(context.runCode(set[language]))
      const asked = Array.from({ length: 20 }, () => context.runCode('x = x + 1; x'))
      assert.deepEqual(
        await Promise.all(asked.map(valueOf)),
        Array.from({ length: 20 }, (_, n) => n + 2),
      )
      assert.equal(context.status, 'idle')
      await sandbox.deleteCodeContext(context.id)
    })

  for (const language of languages)
    test(`${language}: code that exceeds its timeout is interrupted, and the state is kept`, async () => {
      const context = await sandbox.createCodeContext({ language })
      await valueOf(context.runCode(set[language]))
      const { outcome, isStateKept, note } = await context.runCode(loop[language], { timeout: 100 })
      assert.deepEqual(outcome, { kind: 'timed-out', limit: 'wall', limitMs: 100 })
      assert.deepEqual([isStateKept, /still there/.test(note ?? '')], [true, true])
      assert.equal(await valueOf(context.runCode('x')), 1)
      await sandbox.deleteCodeContext(context.id)
    })

  test('aborting the signal interrupts the code; queued code never begins', async () => {
    const context = await sandbox.createCodeContext()
    const [abort, ready] = [new AbortController(), Promise.withResolvers<void>()]
    const { signal } = abort
    const running = context.runCode('print("ready")\nwhile True: pass', {
      signal,
      onStdout: () => ready.resolve(),
    })
    const waiting = context.runCode('open("/workspace/begun", "w")', { signal })
    await ready.promise
    assert.equal(context.status, 'running')
    abort.abort()
    assert.deepEqual((await running).outcome, { kind: 'cancelled' })
    assert.deepEqual((await waiting).outcome, { kind: 'cancelled' })
    assert.equal(await sandbox.exists('/workspace/begun'), false)
    assert.equal(await context.interrupt(), false)
    await sandbox.deleteCodeContext(context.id)
  })

  test('code that ignores an interrupt is ended, and the result says so; the next code gets a new context', async () => {
    const context = await sandbox.createCodeContext()
    await valueOf(context.runCode('x = 1'))
    const deaf = 'import signal, time\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\ntime.sleep(60)'
    const { outcome, isStateKept, note } = await context.runCode(deaf, { timeout: 100 })
    assert.deepEqual([outcome.kind, isStateKept], ['timed-out', false])
    assert.match(note ?? '', /did not stop when it was interrupted.*fresh context/)
    assert.equal((await context.runCode('x')).outcome.kind, 'failed')
    await sandbox.deleteCodeContext(context.id)
  })

  test('an interpreter that ends itself is reported, and the next code gets a new context', async () => {
    const ends = { python: 'import os; os._exit(3)', javascript: 'process.exit(3)' } as const
    for (const [language, code] of Object.entries(ends) as ['python' | 'javascript', string][]) {
      const context = await sandbox.createCodeContext({ language })
      const { outcome, isStateKept, note } = await context.runCode(code)
      assert.deepEqual([outcome, isStateKept], [{ kind: 'completed', exitCode: 3 }, false])
      assert.match(note ?? '', fresh)
      assert.equal(await valueOf(context.runCode('1 + 1')), 2)
      await sandbox.deleteCodeContext(context.id)
    }
  })

  test('output, displays, values and errors arrive at once', async () => {
    const received: unknown[] = []
    const tell = (what: string) => (said: unknown) => void received.push([what, said])
    const code = 'import sys\nprint("out")\nprint("err", file=sys.stderr)\ndisplay("shown")\n7'
    const callbacks = { onStdout: tell('stdout'), onStderr: tell('stderr'), onResult: tell('result') }
    await sandbox.runCode(code, callbacks)
    assert.deepEqual(received.slice(0, 1), [['stdout', 'out\n']])
    const sorted = (said: unknown[]) =>
      said.map((one) => JSON.stringify(one)).toSorted((a, b) => (a < b ? -1 : 1))
    const shown = { 'text/plain': "'shown'" }
    assert.deepEqual(
      sorted(received),
      sorted([
        ['result', shown],
        ['stderr', 'err\n'],
        ['stdout', 'out\n'],
      ]),
    )
    received.length = 0
    await sandbox.runCode('7', callbacks)
    assert.deepEqual(received, [['result', { 'text/plain': '7' }]])
    let error: unknown
    await sandbox.runCode('1 / 0', { onError: (one) => (error = one.name) })
    assert.equal(error, 'ZeroDivisionError')
    const mine = new Error('of the caller')
    const throwing = {
      onResult: () => {
        throw mine
      },
    }
    await assert.rejects(sandbox.runCode('display(1)', throwing), mine)
    assert.equal(await valueOf(sandbox.runCode('1 + 1')), 2)
  })

  test('the output of a program belongs to the code that started it, even if it is binary', async () => {
    const script =
      'import subprocess, sys\nfor n in range(50): subprocess.run(["sh", "-c", f"echo {n}; echo {n} >&2"])'
    const { stdout, stderr } = await sandbox.runCode(script)
    const lines = Array.from({ length: 50 }, (_, n) => `${n}\n`).join('')
    assert.deepEqual([stdout, stderr], [lines, lines])
    for (let n = 0; n < 50; n++) {
      const result = await sandbox.runCode(`import os; os.write(1, b"${n}\\n"); ${n}`)
      assert.deepEqual([result.stdout, result.value], [`${n}\n`, n])
    }
  })

  for (const language of languages)
    test(`${language}: host functions are called by name, and their errors can be caught`, async () => {
      const functions: Record<string, HostFunction> = {
        add: (a, b) => Number(a) + Number(b),
        fail: () => {
          throw new RangeError('not today')
        },
      }
      const context = await sandbox.createCodeContext({ language, functions })
      const isPython = language === 'python'
      assert.equal(await valueOf(context.runCode(isPython ? 'add(1, 2)' : 'await add(1, 2)')), 3)
      assert.equal(await valueOf(context.runCode(isPython ? 'add(3, 4)' : 'await add(3, 4)')), 7)
      const { outcome } = await context.runCode(isPython ? 'fail()' : 'await fail()')
      assert.match(outcome.kind === 'failed' ? outcome.error.message : '', /not today/)
      assert.equal(await valueOf(context.runCode(isPython ? 'add(5, 6)' : 'await add(5, 6)')), 11)
      await sandbox.deleteCodeContext(context.id)
    })

  test('a context starts in the given folder, with the variables that commands have', async () => {
    await sandbox.mkdir('/workspace/inside')
    await sandbox.setEnvVars({ GREETING: 'hello' })
    const look = {
      python: 'import os; [os.getcwd(), os.environ.get("GREETING"), os.environ.get("LATER")]',
      javascript: '[process.cwd(), process.env.GREETING, process.env.LATER ?? null]',
    } as const
    for (const [language, code] of Object.entries(look) as ['python' | 'javascript', string][]) {
      const context = await sandbox.createCodeContext({ language, cwd: '/workspace/inside' })
      assert.equal(context.cwd, '/workspace/inside')
      assert.deepEqual(await valueOf(context.runCode(code)), ['/workspace/inside', 'hello', null])
      await sandbox.setEnvVars({ LATER: 'too' })
      assert.deepEqual(await valueOf(context.runCode(code)), ['/workspace/inside', 'hello', 'too'])
      await sandbox.setEnvVars({ LATER: undefined })
      assert.deepEqual(await valueOf(context.runCode(code)), ['/workspace/inside', 'hello', null])
      await sandbox.deleteCodeContext(context.id)
      const refused = { code: 'INVALID_REQUEST', message: /\/nowhere/ }
      await assert.rejects(sandbox.createCodeContext({ language, cwd: '/nowhere' }), refused)
    }
  })

  test('a module that a command has written since is imported', async () => {
    const context = await sandbox.createCodeContext()
    assert.equal((await context.runCode('import written_later')).outcome.kind, 'failed')
    await sandbox.writeFile('/workspace/written_later.py', 'answer = 42')
    assert.equal(await valueOf(context.runCode('import written_later; written_later.answer')), 42)
    await sandbox.deleteCodeContext(context.id)
  })

  test('contexts are listed, found, deleted, and gone afterwards', async () => {
    const context = await sandbox.createCodeContext({ id: 'mine', language: 'javascript' })
    await assert.rejects(sandbox.createCodeContext({ id: 'mine' }), { code: 'INVALID_REQUEST' })
    assert.equal(sandbox.getCodeContext('mine')?.language, 'javascript')
    assert.ok(sandbox.listCodeContexts().some(({ id }) => id === 'mine'))
    assert.equal(await valueOf(sandbox.runCode('6 * 7', { context: 'mine' })), 42)
    assert.equal(await valueOf(sandbox.runCode('6 * 8', { context })), 48)
    assert.equal(await valueOf(sandbox.runCode('6 * 8', { context, language: 'javascript' })), 48)
    await assert.rejects(sandbox.runCode('6 * 8', { context, language: 'python' }), {
      code: 'INVALID_REQUEST',
      message: /language: the context mine runs javascript/,
    })
    const running = context.runCode('for (;;);').catch((error: unknown) => error)
    assert.equal(await sandbox.deleteCodeContext('mine'), true)
    assert.equal(await sandbox.deleteCodeContext('mine'), false)
    await running
    assert.equal(context.status, 'gone')
    await assert.rejects(context.runCode('1'), { code: 'CONTEXT_GONE' })
    await assert.rejects(sandbox.runCode('1', { context: 'mine' }), { code: 'CONTEXT_GONE' })
  })

  test('a context that ran out of memory is reported, and others continue', async () => {
    const limits = { memoryBytes: 128 * MiB }
    const [one, other] = await Promise.all([
      sandbox.createCodeContext({ limits }),
      sandbox.createCodeContext({ limits }),
    ])
    await valueOf(other.runCode('x = 1'))
    const { outcome } = await one.runCode(
      'y = bytearray(256 * 1024 * 1024)\nfor at in range(0, len(y), 4096): y[at] = 1',
    )
    const isOut =
      outcome.kind === 'out-of-memory' || (outcome.kind === 'failed' && outcome.error.name === 'MemoryError')
    assert.ok(isOut, JSON.stringify(outcome))
    assert.equal(await valueOf(one.runCode('1 + 1')), 2)
    assert.equal(await valueOf(other.runCode('x')), 1)
    await Promise.all([one, other].map(({ id }) => sandbox.deleteCodeContext(id)))
  })

  test('output beyond its limit is cut, and the context stays usable', async () => {
    const { stdout, truncated, outcome } = await sandbox.runCode('print("x" * (12 * 1024 * 1024))')
    assert.equal(outcome.kind, 'completed')
    assert.deepEqual([stdout.length, truncated], [sandbox.limits.outputBytes, ['stdout']])
    const { seen } = await untilShown(
      (timeout) =>
        sandbox.runCode('print("y" * (12 * 1024 * 1024))\nimport time; time.sleep(60)', { timeout }),
      ({ seen: result }) => result.truncated.includes('stdout'),
    )
    assert.deepEqual([seen.outcome.kind, seen.truncated[0]], ['timed-out', 'stdout'])
    assert.equal(await valueOf(sandbox.runCode('1 + 1')), 2)
  })

  test('python: large memory uses huge pages if the kernel offers them on demand, unless the caller turns that off', async () => {
    const look = `x = bytearray(64 << 20)
import os, platform
with open("/sys/kernel/mm/transparent_hugepage/enabled") as file: mode = file.read()
[os.environ["GLIBC_TUNABLES"], platform.libc_ver(), mode, " hg" in open("/proc/self/smaps").read()]`
    if (!existsSync('/sys/kernel/mm/transparent_hugepage/enabled')) return
    const [tunables, [library, version = ''], mode, isAdvised] = (await valueOf(sandbox.runCode(look))) as [
      string,
      [string, string?],
      string,
      boolean,
    ]
    assert.equal(tunables, 'glibc.malloc.hugetlb=1')
    const [major = 0, minor = 0] = version.split('.').map(Number)
    const isAsked = library === 'glibc' && major === 2 && minor >= 35 && mode.includes('[madvise]')
    assert.equal(isAdvised, isAsked)
    await sandbox.setEnvVars({ GLIBC_TUNABLES: 'glibc.malloc.hugetlb=0' })
    const context = await sandbox.createCodeContext()
    const own = (await valueOf(context.runCode(look))) as unknown[]
    assert.deepEqual([own[0], own[3]], ['glibc.malloc.hugetlb=0', false])
    await sandbox.setEnvVars({ GLIBC_TUNABLES: undefined })
    await sandbox.deleteCodeContext(context.id)
  })

  test('wrong options are refused before anything is started', async () => {
    const refused = { code: 'INVALID_REQUEST' }
    const wrong = [
      { language: 'ruby' },
      { cwd: 'relative' },
      { limits: { memoryBytes: 1 } },
      { limits: { memoryBytes: 2 ** 60 } },
      { functions: { 'no name': () => 1 } },
      { other: 1 },
    ]
    for (const options of wrong) await assert.rejects(sandbox.createCodeContext(options as never), refused)
    for (const options of [{ timeout: 0 }, { onStdout: 1 }, { context: '' }, { signal: {} }, { other: 1 }])
      await assert.rejects(sandbox.runCode('1', options as never), refused)
    await assert.rejects(sandbox.runCode(1 as never), refused)
  })
})
