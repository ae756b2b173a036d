/**
 * How many executions run at a time, wait or are refused: the operator's `queue`, `rate` and `breaker` at the doors.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { MessageRouter, SubprocessCodeExecutionActor } from '../../../src/adapters/actor/index.ts'
import { CodeExecutionService } from '../../../src/adapters/code-execution/index.ts'
import { runSnippet } from '../../../src/adapters/snippet-tool/index.ts'
import { createLazaret } from '../../support/create-lazaret.ts'
import type { LazaretError, LazaretOptions, RunRequest } from '../../../src/index.ts'

const MiB = 1024 * 1024
const quiet = { minimumProtection: 'restricted', onEvent: () => undefined } as const
const shell = { language: 'shell', code: ':' } as const

async function withLazaret(
  options: LazaretOptions,
  use: (lazaret: ReturnType<typeof createLazaret>) => Promise<void>,
): Promise<void> {
  await using lazaret = createLazaret({ ...quiet, ...options })
  await use(lazaret)
}

const codeOf = async (work: Promise<unknown>): Promise<unknown> =>
  await work.then(
    () => 'done',
    (error: LazaretError) => error.code,
  )

/** Counts the runs that are running, by their calls of a function. */
class Inside {
  most = 0
  #now = 0

  readonly request = (client: string, memoryBytes: number): RunRequest => ({
    language: 'python',
    code: 'enter()',
    client,
    limits: { memoryBytes, diskBytes: MiB },
    functions: {
      enter: async () => {
        this.most = Math.max(this.most, ++this.#now)
        await new Promise<void>((resolve) => setImmediate(resolve))
        this.#now--
      },
    },
  })
}

describe('runs', () => {
  test('of 150 heavy requests only as many run at once as there is memory for, and all end', async () => {
    const queue = { memoryTotalBytes: 256 * MiB, runningMax: 100 }
    await withLazaret({ queue }, async (lazaret) => {
      const inside = new Inside()
      const all = Array.from({ length: 150 }, (_, index) =>
        lazaret.run(inside.request(`client ${index % 3}`, 64 * MiB)),
      )
      await new Promise((resolve) => setImmediate(resolve))
      assert.ok(lazaret.stats().waiting > 100, String(lazaret.stats().waiting))
      const results = await Promise.all(all)
      assert.deepEqual(new Set(results.map(({ outcome }) => outcome.kind)), new Set(['completed']))
      assert.ok(inside.most >= 1 && inside.most <= 4, String(inside.most))
      assert.ok(results.some(({ usage }) => usage.queuedMs > 0))
    })
  })

  test('of 300 heavy requests with a short queue the rest is refused, with the time to retry', async () => {
    const queue = { memoryTotalBytes: 256 * MiB, runningMax: 100, waitingMax: 20 }
    await withLazaret({ queue }, async (lazaret) => {
      const inside = new Inside()
      const all = await Promise.allSettled(
        Array.from({ length: 300 }, (_, index) =>
          lazaret.run(inside.request(`client ${index % 3}`, 64 * MiB)),
        ),
      )
      const refusals = all.flatMap((one) => (one.status === 'rejected' ? [one.reason as LazaretError] : []))
      assert.ok(inside.most >= 1 && inside.most <= 4, String(inside.most))
      assert.ok(refusals.length >= 270, String(refusals.length))
      for (const { code, retryAfterMs = 0 } of refusals) {
        assert.match(code, /^(CLIENT_)?QUEUE_FULL$/)
        assert.ok(retryAfterMs >= 100 && retryAfterMs <= 60_000, String(retryAfterMs))
      }
    })
  })

  test('that request more memory than there is are lowered to it, and the receipt reports it', async () => {
    await withLazaret({ queue: { memoryTotalBytes: 128 * MiB } }, async (lazaret) => {
      const limits = { memoryBytes: 1024 * MiB, diskBytes: MiB }
      const { receipt } = await lazaret.run({ ...shell, limits })
      assert.deepEqual([receipt.clamped, receipt.limits.memoryBytes.value], [['memoryBytes'], 128 * MiB])
    })
  })

  test('beyond the queue are refused, with the time to retry, and later ones are accepted', async () => {
    await withLazaret({ queue: { runningMax: 1, waitingMax: 1 } }, async (lazaret) => {
      const running = lazaret.run({ ...shell, code: 'read line', stdin: '' })
      const waiting = lazaret.run(shell)
      const refused = await lazaret.run(shell).catch((error: LazaretError) => error.toJSON())
      const { code, retryAfterMs = 0 } = refused as ReturnType<LazaretError['toJSON']>
      assert.equal(code, 'QUEUE_FULL')
      assert.ok(retryAfterMs > 0)
      await Promise.all([running, waiting])
      assert.equal((await lazaret.run(shell)).outcome.kind, 'completed')
    })
  })

  test('that are cancelled in the queue have a result, and free their place', async () => {
    await withLazaret({ queue: { runningMax: 1 } }, async (lazaret) => {
      const abort = new AbortController()
      const endless = lazaret.run({ ...shell, code: 'while :; do :; done', signal: abort.signal })
      const leaving = new AbortController()
      const waiting = lazaret.run({ ...shell, signal: leaving.signal })
      leaving.abort()
      assert.deepEqual((await waiting).outcome, { kind: 'cancelled' })
      abort.abort()
      await endless
      assert.equal((await lazaret.run(shell)).outcome.kind, 'completed')
    })
  })
})

describe('a sandbox', () => {
  test('reserves its memory until it is gone, and its commands never queue', async () => {
    const queue = { memoryTotalBytes: 128 * MiB, runningMax: 1 }
    const limits = { memoryBytes: 96 * MiB, diskBytes: MiB }
    await withLazaret({ queue }, async (lazaret) => {
      const sandbox = await lazaret.sandbox({ limits })
      assert.equal(await codeOf(lazaret.sandbox({ limits })), 'QUEUE_FULL')
      assert.equal(await codeOf(lazaret.run({ ...shell, limits })), 'QUEUE_FULL')
      await assert.rejects(lazaret.sandbox({ limits }), {
        message: 'Sandboxes hold the memory that this needs: 96 MiB.',
        hint: /^Destroy a sandbox/,
        retryable: false,
      })
      const commands = Array.from({ length: 5 }, () => sandbox.exec('echo there'))
      assert.deepEqual(
        (await Promise.all(commands)).map(({ stdout }) => stdout),
        Array(5).fill('there\n'),
      )
      await sandbox.destroy()
      await using again = await lazaret.sandbox({ limits })
      assert.equal((await again.exec('echo again')).stdout, 'again\n')
    })
  })

  test('that cannot be created releases its memory', async () => {
    const limits = { memoryBytes: 96 * MiB, diskBytes: MiB }
    await withLazaret({ queue: { memoryTotalBytes: 128 * MiB } }, async (lazaret) => {
      await using first = await lazaret.sandbox({ id: 'one', limits: { ...limits, memoryBytes: 32 * MiB } })
      for (let times = 0; times < 3; times++)
        assert.equal(await codeOf(lazaret.sandbox({ id: 'one', limits })), 'INVALID_REQUEST')
      assert.equal(first.isAlive, true)
      await using other = await lazaret.sandbox({ limits })
      assert.equal(other.isAlive, true)
    })
  })
})

describe('the rate', () => {
  const rate = { perMinute: 2 }
  const text = /Rate limit exceeded\. Maximum 2 executions per minute\./

  test('is separate for each client, and counts commands and runs', async () => {
    await withLazaret({ rate }, async (lazaret) => {
      await using sandbox = await lazaret.sandbox({ client: 'ada' })
      await sandbox.exec(':')
      await lazaret.run({ ...shell, client: 'ada' })
      await assert.rejects(sandbox.exec(':'), { code: 'RATE_LIMITED', message: text })
      await assert.rejects(lazaret.run({ ...shell, client: 'ada' }), { code: 'RATE_LIMITED', message: text })
      await sandbox.writeFile('/workspace/a', 'free')
      await lazaret.run({ ...shell, client: 'bob' })
    })
  })

  test('is the same at the actor, the service and the snippet tool', async () => {
    await withLazaret({ rate: { perMinute: 1 } }, async (lazaret) => {
      await using actor = new SubprocessCodeExecutionActor(new MessageRouter(), 5000, { lazaret })
      const ask = () => actor.receive({ type: 'execute', payload: { code: '1' } })
      const once = /Rate limit exceeded\. Maximum 1 executions per minute\./
      await ask()
      assert.match(JSON.stringify(await ask()), once)
      await assert.rejects(runSnippet({ source: 'emit(1)' }), { code: 'RATE_LIMITED', message: once })
    })
    const service = new CodeExecutionService({ engine: { ...quiet, rate: { perMinute: 1 } } })
    try {
      const program = { code: '1', language: 'javascript' } as const
      await service.execute(program)
      assert.match(JSON.stringify(await service.execute(program)), /Rate limit exceeded/)
    } finally {
      await service.shutdown()
    }
  })
})

test('only a client whose programs keep timing out is refused for a while', async () => {
  const breaker = { resultsMin: 2 }
  await withLazaret({ breaker }, async (lazaret) => {
    const endless = { ...shell, code: 'while :; do :; done', client: 'eve', limits: { wallMs: 20 } }
    for (let times = 0; times < 2; times++)
      assert.equal((await lazaret.run(endless)).outcome.kind, 'timed-out')
    await assert.rejects(lazaret.run({ ...shell, client: 'eve' }), {
      code: 'CIRCUIT_OPEN',
      message: 'Code execution temporarily disabled due to high error rate',
    })
    assert.equal((await lazaret.run({ ...shell, client: 'ada' })).outcome.kind, 'completed')
  })
})
