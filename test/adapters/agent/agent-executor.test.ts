/** The phases of an execution: admit, validate, run, capture, record. Every end is a value, not an exception. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'

import { createAgentExecutor } from '../../../src/adapters/agent/agent-executor.ts'
import type { AgentExecutor, AgentResult } from '../../../src/adapters/agent/agent-types.ts'
import type { RunsCode } from '../../../src/adapters/agent/subprocess-executor.ts'
import { systemClock } from '../../../src/core/clock.ts'
import { LazaretError } from '../../../src/core/errors/errors.ts'
import type { MonitorAlert } from '../../../src/observe/execution-monitor.ts'
import { ExecutionMonitor } from '../../../src/observe/execution-monitor.ts'
import { sha256 } from '../../../src/observe/digest.ts'
import { createLazaret } from '../../../src/index.ts'
import type { RunRequest } from '../../../src/index.ts'

const lazaret = createLazaret({ onEvent: () => undefined })
const executor = createAgentExecutor(lazaret, { rate: false })
after(async () => {
  await executor[Symbol.asyncDispose]()
  await lazaret[Symbol.asyncDispose]()
})

const python = (code: string) => ({ code, language: 'python' }) as const
const javascript = (code: string) => ({ code, language: 'javascript' }) as const
const short = ({ success, output, error }: AgentResult) => ({ success, output, error })

test('a program that succeeds has its output and its metadata in the result', async () => {
  const asked = {
    ...python('print("out")\nimport sys; print("err", file=sys.stderr)'),
    description: 'says both',
  }
  const result = await executor.execute(asked)
  assert.deepEqual(short(result), { success: true, output: 'out\nerr\n', error: undefined })
  const { duration_ms, run_id, phases_ms, queued_ms, ...metadata } = result.metadata
  assert.deepEqual(metadata, {
    exit_code: 0,
    timeout_triggered: false,
    memory_limit_mb: 512,
    timeout_seconds: 30,
    description: 'says both',
    attempts: 1,
    validation: { isSafe: true, riskLevel: 'safe', findings: [] },
  })
  assert.ok(duration_ms >= 0 && queued_ms >= 0 && typeof run_id === 'string')
  assert.deepEqual(Object.keys(phases_ms), ['admit', 'validate', 'run', 'capture', 'record'])
  assert.ok(phases_ms.validate > 0 && phases_ms.run > 0)
})

test('JavaScript and TypeScript run in the same way', async () => {
  assert.equal((await executor.execute(javascript('console.log(6 * 7)'))).output, '42\n')
  const typed = { code: 'const x: number = 42\nconsole.log(x)', language: 'typescript' } as const
  assert.equal((await executor.execute(typed)).output, '42\n')
})

test('whatever a program does is a value', async () => {
  const failed = await executor.execute(python('print("kept")\n1 / 0'))
  assert.equal(failed.success, false)
  assert.match(failed.output, /^kept\nTraceback/)
  assert.equal(failed.error, 'ZeroDivisionError: division by zero (line 2)')
  assert.equal(failed.metadata.exit_code, 1)
  const exited = await executor.execute(python('import sys; sys.exit(3)'))
  assert.deepEqual([exited.error, exited.metadata.exit_code], ['The program ended with exit code 3.', 3])
  const wrong = await executor.execute(python('x = ('))
  assert.match(wrong.error ?? '', /^SyntaxError: /)
  const crashed = await executor.execute(python('import ctypes; ctypes.string_at(0)'))
  assert.equal(crashed.metadata.exit_code, -11)
  const killed = await executor.execute(python('import os; os.kill(os.getpid(), 9)'))
  assert.deepEqual([killed.metadata.exit_code, killed.metadata.timeout_triggered], [-9, false])
  const endless = { ...python('print("kept", flush=True)\nwhile True: pass'), timeoutSeconds: 0.3 }
  const late = await executor.execute(endless)
  assert.deepEqual(short(late), {
    success: false,
    output: 'kept\n',
    error: 'The program timed out after 300ms.',
  })
  const { exit_code, timeout_triggered, timeout_seconds } = late.metadata
  assert.deepEqual([exit_code, timeout_triggered, timeout_seconds], [-9, true, 0.3])
  const greedy = await executor.execute(python('x = bytearray(2 ** 33)'))
  assert.equal(greedy.success, false)
})

test('programs may not start processes and have few descriptors, unless the executor allows more', async () => {
  // The child lives long enough for a periodic watchdog to see it.
  const fork = python('import os, time\nif os.fork() == 0: time.sleep(9)\ntime.sleep(0.3); print("forked")')
  assert.equal((await executor.execute(fork)).success, false)
  const files = 'import os\nprint(len([os.open("/dev/null", 0) for _ in range(200)]))'
  assert.match((await executor.execute(python(files))).error ?? '', /Too many open files/)
  await using wide = createAgentExecutor(lazaret, { canFork: true, openFilesMax: 256 })
  assert.equal((await wide.execute(fork)).output, 'forked\n')
  assert.equal((await wide.execute(python(files))).output, '200\n')
})

test('an invalid request is refused, and the field is named', async () => {
  const ask = async (asked: unknown) => (await executor.execute(asked as never)).metadata
  for (const asked of [null, {}, { code: 1, language: 'python' }, { code: '', language: 'shell' }])
    assert.equal((await ask(asked)).code, 'INVALID_REQUEST')
  const hostile = Object.defineProperty({ language: 'python' }, 'code', {
    enumerable: true,
    get: () => {
      throw new Error('mine')
    },
  })
  const { code, attempts, exit_code } = await ask(hostile)
  assert.deepEqual([code, attempts, exit_code], ['INVALID_REQUEST', 0, null])
})

test('each mode of validation does what it says', async () => {
  const risky = python('print(eval("40 + 2"))')
  const warned = await executor.execute(risky)
  assert.deepEqual([warned.output, warned.metadata.validation?.riskLevel], ['42\n', 'high'])
  await using strict = createAgentExecutor(lazaret, { validation: { mode: 'enforce' } })
  const refused = await strict.execute(risky)
  assert.equal(refused.success, false)
  assert.equal(refused.error, 'Validation rejects the code. Line 1, dynamic-code: `eval` runs text as code.')
  const { code, validation, attempts } = refused.metadata
  assert.deepEqual([code, validation?.findings[0]?.line, attempts], ['CODE_REJECTED', 1, 0])
  // A finding of level medium.
  assert.equal((await strict.execute(python('import socket\nprint(1)'))).output, '1\n')
  await using off = createAgentExecutor(lazaret, { validation: { mode: 'off' } })
  const unread = await off.execute(risky)
  assert.deepEqual([unread.output, 'validation' in unread.metadata], ['42\n', false])
  await using listed = createAgentExecutor(lazaret, {
    validation: { mode: 'enforce', imports: { python: ['math'] } },
  })
  assert.equal((await listed.execute(python('import math\nprint(math.floor(1.5))'))).output, '1\n')
  assert.equal((await listed.execute(python('import json'))).metadata.code, 'CODE_REJECTED')
})

test('code that is too long is refused unless nobody reads it', async () => {
  const long = javascript(`// ${'x'.repeat(50_000)}\nconsole.log(1)`)
  assert.equal((await executor.execute(long)).metadata.code, 'CODE_REJECTED')
  await using off = createAgentExecutor(lazaret, { validation: { mode: 'off' } })
  assert.equal((await off.execute(long)).output, '1\n')
})

/** A Lazaret with scripted answers that records its requests. */
function scripted(answers: readonly (() => unknown)[]): RunsCode & { readonly asked: RunRequest[] } {
  const asked: RunRequest[] = []
  return {
    asked,
    run: async (request) => {
      asked.push(request)
      const answer = answers[Math.min(asked.length, answers.length) - 1]
      answer?.()
      return lazaret.run(request)
    },
  }
}

const fail = (code: 'WORKER_LOST' | 'QUEUE_FULL' | 'NOT_ADMITTED') => () => {
  throw new LazaretError(code)
}
const retryAtOnce = { firstPauseMs: 1 }
const unread = { validation: { mode: 'off' }, retry: retryAtOnce } as const

test('faults and full queues are retried three times; refused requests and executed programs are not', async () => {
  const flaky = scripted([fail('WORKER_LOST'), fail('QUEUE_FULL'), () => undefined])
  await using one = createAgentExecutor(flaky, unread)
  const { output, metadata } = await one.execute(javascript('console.log(1)'))
  assert.deepEqual([output, metadata.attempts], ['1\n', 3])
  await using two = createAgentExecutor(scripted([fail('WORKER_LOST')]), unread)
  const lost = await two.execute(javascript('1'))
  assert.deepEqual([lost.metadata.code, lost.metadata.attempts], ['WORKER_LOST', 4])
  await using three = createAgentExecutor(scripted([fail('NOT_ADMITTED')]), unread)
  assert.equal((await three.execute(javascript('1'))).metadata.attempts, 1)
  await using four = createAgentExecutor(scripted([fail('WORKER_LOST')]), { ...unread, retry: false })
  assert.equal((await four.execute(javascript('1'))).metadata.attempts, 1)
  const guilty = scripted([() => undefined])
  await using five = createAgentExecutor(guilty, unread)
  await five.execute(javascript('process.exit(1)'))
  assert.equal(guilty.asked.length, 1)
})

test('admission comes first, in the documented order and words, and uses no cell', async () => {
  const quiet = scripted([() => undefined])
  await using limited = createAgentExecutor(quiet, { rate: { perMinute: 2 } })
  const ada = { ...python('1'), clientId: 'ada' }
  for (let count = 0; count < 2; count++) assert.equal((await limited.execute(ada)).success, true)
  const before = quiet.asked.length
  const refused = await limited.execute(ada)
  assert.equal(refused.error, 'Rate limit exceeded. Maximum 2 executions per minute.')
  assert.equal(refused.metadata.code, 'RATE_LIMITED')
  assert.ok((refused.metadata.retry_after_ms ?? 0) > 50_000)
  assert.equal(quiet.asked.length, before)
  assert.equal((await limited.execute({ ...ada, clientId: 'bob' })).success, true)
})

test('a full queue refuses with the documented text', async () => {
  await using narrow = createAgentExecutor(lazaret, {
    ...unread,
    queue: { runningMax: 1, waitingMax: 0 },
  })
  const stop = new AbortController()
  const running = narrow.execute({
    ...javascript('await new Promise(() => setInterval(() => {}, 9e4))'),
    signal: stop.signal,
  })
  const refused = await narrow.execute(javascript('1'))
  assert.equal(refused.error, 'Execution queue full. Please retry in a few seconds.')
  assert.equal(refused.metadata.code, 'QUEUE_FULL')
  stop.abort()
  const { success, error } = await running
  assert.deepEqual([success, error], [false, 'The program was cancelled.'])
})

test('a breaker opens only for the client whose programs never end', async () => {
  await using careful = createAgentExecutor(lazaret, {
    ...unread,
    breaker: { resultsMin: 2, resultsMax: 4 },
  })
  const endless = { ...javascript('for (;;);'), clientId: 'mallory', timeoutSeconds: 0.05 }
  for (let count = 0; count < 2; count++) assert.equal((await careful.execute(endless)).success, false)
  const refused = await careful.execute(endless)
  assert.equal(refused.error, 'Code execution temporarily disabled due to high error rate')
  assert.equal(refused.metadata.code, 'CIRCUIT_OPEN')
  assert.equal((await careful.execute({ ...javascript('1'), clientId: 'ada' })).success, true)
})

test('timeouts are reported with the hash of their code, and repeated ones cause an alert', async () => {
  const [timeouts, alerts]: [unknown[], MonitorAlert[]] = [[], []]
  const monitor = new ExecutionMonitor({ onAlert: (alert) => alerts.push(alert) })
  await using watched = createAgentExecutor(lazaret, {
    ...unread,
    breaker: false,
    monitor,
    onTimeout: (event) => {
      timeouts.push(event)
      throw new Error('an observer decides nothing')
    },
  })
  const code = 'for (;;);'
  for (let count = 0; count < 4; count++)
    await watched.execute({ ...javascript(code), clientId: 'mallory', timeoutSeconds: 0.05 })
  assert.equal(timeouts.length, 4)
  const [{ durationMs, ...event }] = timeouts as [{ durationMs: number }]
  assert.deepEqual(event, { codeHash: sha256(code), client: 'mallory' })
  assert.ok(durationMs >= 50)
  assert.deepEqual(
    alerts.map(({ client, outcomes }) => [client, outcomes.length]),
    [['mallory', 4]],
  )
  await watched.execute({ code: 7, language: 'python' } as never)
  const { total, refused, errors } = monitor.snapshot()
  assert.deepEqual([total, monitor.snapshot().timeouts, errors, refused], [4, 4, 4, 1])
  assert.equal(watched.monitor, monitor)
})

test('a queued execution can be cancelled, and an executor that ends begins no more', async () => {
  const clock = { ...systemClock }
  const own: AgentExecutor = createAgentExecutor(lazaret, { ...unread, clock, queue: { runningMax: 1 } })
  const running = own.execute(javascript('await new Promise(() => setInterval(() => {}, 9e4))'))
  const stop = new AbortController()
  const waiting = own.execute({ ...javascript('1'), signal: stop.signal })
  stop.abort()
  assert.deepEqual(short(await waiting), {
    success: false,
    output: '',
    error: 'The execution was cancelled.',
  })
  await own[Symbol.asyncDispose]()
  assert.equal((await running).error, 'The program was cancelled.')
  const { error, metadata } = await own.execute(javascript('1'))
  assert.deepEqual([error, metadata.code], ['This executor was disposed.', 'DISPOSED'])
})
