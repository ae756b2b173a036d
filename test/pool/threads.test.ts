import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { afterEach, describe, test } from 'node:test'

import { systemClock } from '../../src/core/clock.ts'
import { LazaretError } from '../../src/core/errors/errors.ts'
import { Threads } from '../../src/pool/threads.ts'
import type { ThreadTurn } from '../../src/pool/threads.ts'
import { createOutputBuffer, readOutput } from '../../src/runtimes/snippet/output-buffer.ts'
import { usualVm } from '../../src/runtimes/snippet/thread-protocol.ts'
import type { SnippetJob } from '../../src/runtimes/snippet/thread-protocol.ts'
import { eventually } from '../support/eventually.ts'
import { FakeClock } from './fake-worker.ts'

const wallMs = 60_000
const endless = 'for (;;);'
const opened: Threads[] = []

/** Counts the threads of this process. The first count has Node's own. */
const countTasks = (): number => readdirSync('/proc/self/task').length

async function allGone(before: number): Promise<void> {
  await eventually(
    () => (countTasks() <= before ? undefined : `${countTasks()} threads, not ${before}`),
    10_000,
  )
}

afterEach(async () => {
  for (const threads of opened.splice(0)) await threads[Symbol.asyncDispose]()
})

function open(options: Partial<ConstructorParameters<typeof Threads>[0]> = {}): Threads {
  const threads = new Threads({ clock: systemClock, threadsMax: 2, ...options })
  opened.push(threads)
  return threads
}

function job(source: string, changes: Partial<SnippetJob> = {}): SnippetJob {
  return { ...usualVm, source, input: '', output: createOutputBuffer(1024), ...changes }
}

/** How it ended, and its output. */
async function run(threads: Threads, source: string, turn: Partial<ThreadTurn> = {}): Promise<string> {
  const one = job(source)
  const { end } = await threads.run(one, { wallMs, ...turn })
  return end.kind === 'completed' ? readOutput(one.output) : end.kind
}

const isCode = (code: string) => (error: unknown) => error instanceof LazaretError && error.code === code

describe('programs and threads', () => {
  test('a program gets a waiting thread or a new one', async () => {
    const threads = open()
    const first = await threads.run(job('emit(1)'), { wallMs })
    assert.deepEqual([first.end, first.start], [{ kind: 'completed' }, 'cold'])
    await threads.warmUp(1)
    const second = await threads.run(job('emit(1)'), { wallMs })
    assert.deepEqual([second.end, second.start], [{ kind: 'completed' }, 'parked'])
    assert.ok(
      second.usage.memoryPeakBytes > 0 && second.usage.wallMs >= 0 && second.queuedMs < first.queuedMs,
    )
  })

  test('each program has a fresh engine', async () => {
    const threads = open({ threadsMax: 1 })
    for (let round = 0; round < 5; round++)
      assert.equal(
        await run(threads, 'emit(typeof leftover); globalThis.leftover = 1; Array.prototype.x = 1'),
        'undefined',
      )
    assert.equal(await run(threads, 'emit([].x)'), 'undefined')
  })

  test('memory and clock can be set for one program, and the next one has the defaults', async () => {
    const threads = open({ threadsMax: 1 })
    const grow =
      'const hold = []; for (let i = 0; i < 8; i++) hold.push(new Uint8Array(1e6)); emit(Date.now())'
    const small = await threads.run(job(grow, { memoryBytes: 4 * 1024 * 1024 }), { wallMs })
    assert.deepEqual(small.end, { kind: 'out-of-memory' })
    const large = job(
      'const hold = []; for (let i = 0; i < 60; i++) hold.push(new Uint8Array(1e6)); emit(1)',
      {
        memoryBytes: 128 * 1024 * 1024,
      },
    )
    assert.deepEqual((await threads.run(large, { wallMs })).end, { kind: 'completed' })
    const real = job('emit(Date.now())', { clock: 'real' })
    await threads.run(real, { wallMs })
    assert.ok(Number(readOutput(real.output)) > 1e12)
    assert.equal(await run(threads, grow), '0')
  })

  test('there are never more threads than the maximum', async () => {
    const before = countTasks()
    const threads = open({ threadsMax: 3 })
    await threads.warmUp(3)
    // Node starts its own helpers with the first worker.
    const withThree = countTasks()
    assert.ok(withThree >= before + 3)
    const all = Array.from({ length: 60 }, (_, index) => run(threads, `emit(${index})`))
    let most = 0
    for (const one of all) {
      await one
      most = Math.max(most, countTasks())
    }
    assert.ok(most <= withThree, `${most} threads, not ${withThree}`)
    assert.deepEqual(
      await Promise.all(all),
      Array.from({ length: 60 }, (_, index) => String(index)),
    )
  })

  test('a thread that had to be ended is replaced before the next program arrives', async () => {
    const threads = open({ threadsMax: 1 })
    for (const [source, kind] of [
      [endless, 'timed-out'],
      ['emit("x".repeat(2000))', 'output-full'],
      ['for (const hold = [];;) hold.push(new Uint8Array(1e6))', 'out-of-memory'],
    ] as const) {
      assert.equal(await run(threads, source, { wallMs: kind === 'timed-out' ? 20 : wallMs }), kind)
      await threads.warmUp(1)
      const { start, end } = await threads.run(job('emit(1)'), { wallMs })
      assert.deepEqual([start, end], ['parked', { kind: 'completed' }])
    }
  })

  test('a program that fails does not end its thread', async () => {
    const threads = open({ threadsMax: 1 })
    await threads.warmUp(1)
    const before = listTasks()
    for (let round = 0; round < 10; round++) assert.equal(await run(threads, 'throw 1'), 'failed')
    assert.deepEqual(listTasks(), before)
  })

  const listTasks = () => readdirSync('/proc/self/task').toSorted()
})

describe('a queued program', () => {
  test('takes turns with the other clients, however many programs they have', async () => {
    const threads = open({ threadsMax: 1 })
    await threads.warmUp(1)
    const order: string[] = []
    const ask = async (client: string, name: string) => {
      await run(threads, 'emit(1)', { client })
      order.push(name)
    }
    const busy = [1, 2, 3, 4, 5].map((index) => ask('busy', `busy ${index}`))
    await Promise.all([...busy, ask('calm', 'calm 1'), ask('calm', 'calm 2'), ask('shy', 'shy 1')])
    assert.deepEqual(order, ['busy 1', 'busy 2', 'calm 1', 'shy 1', 'busy 3', 'calm 2', 'busy 4', 'busy 5'])
  })

  test('can be cancelled, and then takes no turn', async () => {
    const threads = open({ threadsMax: 1 })
    const held = new AbortController()
    const first = run(threads, endless, { signal: held.signal })
    const impatient = new AbortController()
    const waiting = run(threads, endless, { signal: impatient.signal })
    const last = run(threads, 'emit("last")')
    impatient.abort()
    assert.equal(await waiting, 'cancelled')
    held.abort()
    assert.deepEqual(await Promise.all([first, last]), ['cancelled', 'last'])
  })

  test('is refused when too many wait', async () => {
    const threads = open({ threadsMax: 1, waitingMax: 2 })
    const held = new AbortController()
    await threads.warmUp(1)
    const first = run(threads, endless, { signal: held.signal })
    const second = run(threads, 'emit(2)')
    const third = run(threads, 'emit(3)')
    await assert.rejects(run(threads, 'emit(4)'), isCode('QUEUE_FULL'))
    held.abort()
    assert.deepEqual(await Promise.all([first, second, third]), ['cancelled', '2', '3'])
    assert.equal(await run(threads, 'emit(5)'), '5')
  })

  test('with a signal that is aborted already takes no thread', async () => {
    const before = countTasks()
    assert.equal(await run(open(), endless, { signal: AbortSignal.abort() }), 'cancelled')
    assert.equal(countTasks(), before)
  })

  test('with a signal that is aborted as soon as a thread is found runs nothing in it', async () => {
    const [threads, held] = [open({ threadsMax: 1 }), new AbortController()]
    await threads.warmUp(1)
    const ended = run(threads, endless, { signal: held.signal })
    held.abort()
    assert.equal(await ended, 'cancelled')
    assert.equal((await threads.run(job('emit(1)'), { wallMs })).start, 'parked')
  })
})

describe('time', () => {
  test('a deadline uses the given clock', async () => {
    const clock = new FakeClock()
    const threads = open({ clock })
    await threads.warmUp(1)
    const ended = run(threads, endless, { wallMs: 5000 })
    await new Promise(setImmediate)
    clock.advance(4999)
    assert.equal(
      await Promise.race([ended, new Promise((resolve) => setImmediate(resolve, 'still runs'))]),
      'still runs',
    )
    clock.advance(1)
    assert.equal(await ended, 'timed-out')
  })

  test('threads that were not needed for a while are ended, except one', async () => {
    const clock = new FakeClock()
    const threads = open({ clock, threadsMax: 4 })
    const before = countTasks()
    await threads.warmUp(1)
    const withOne = countTasks()
    await threads.warmUp(4)
    const withAll = countTasks()
    assert.equal(withAll, withOne + 3)
    // The first check finds them idle, the second one unchanged.
    clock.advance(30_000)
    assert.equal(countTasks(), withAll)
    clock.advance(30_000)
    await allGone(withOne)
    clock.advance(300_000)
    const { start } = await threads.run(job('emit(1)'), { wallMs })
    assert.equal(start, 'parked')
    await threads[Symbol.asyncDispose]()
    await allGone(before + (withOne - before - 1))
  })

  test('threads that were needed in the meantime stay', async () => {
    const clock = new FakeClock()
    const threads = open({ clock, threadsMax: 3 })
    await threads.warmUp(3)
    const withAll = countTasks()
    for (let round = 0; round < 5; round++) {
      clock.advance(30_000)
      await threads.warmUp(3)
    }
    assert.equal(countTasks(), withAll)
  })
})

describe('the end', () => {
  test('leaves no thread while programs run, and rejects waiting programs', async () => {
    const before = await baseline()
    const threads = open({ threadsMax: 3 })
    await threads.warmUp(3)
    const all = Array.from({ length: 9 }, () => run(threads, endless))
    await new Promise(setImmediate)
    const ends = Promise.all(all.map((one) => assert.rejects(one, isCode('DISPOSED'))))
    await threads[Symbol.asyncDispose]()
    await ends
    await allGone(before)
    await assert.rejects(run(threads, 'emit(1)'), isCode('DISPOSED'))
    await assert.rejects(threads.warmUp(1), isCode('DISPOSED'))
  })

  test('leaves no thread while threads start, at whatever moment', async () => {
    const before = await baseline()
    for (const turns of [0, 1, 2, 5, 10, 20, 40, 80]) {
      const threads = open({ threadsMax: 2 })
      const all = Array.from({ length: 4 }, () => run(threads, 'emit(1)').catch((error: unknown) => error))
      for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate)
      await threads[Symbol.asyncDispose]()
      for (const end of await Promise.all(all)) assert.ok(end === '1' || isCode('DISPOSED')(end), String(end))
    }
    await allGone(before)
  })

  test('leaves no thread while threads are replaced', async () => {
    const before = await baseline()
    for (let round = 0; round < 5; round++) {
      const threads = open({ threadsMax: 2 })
      await Promise.all([run(threads, endless, { wallMs: 5 }), run(threads, endless, { wallMs: 5 })])
      await threads[Symbol.asyncDispose]()
    }
    await allGone(before)
  })

  test('may come twice, and before anything has begun', async () => {
    const threads = open()
    await threads[Symbol.asyncDispose]()
    await Promise.all([threads[Symbol.asyncDispose](), threads[Symbol.asyncDispose]()])
  })

  /** The number of threads including the helpers that Node keeps after its first worker. */
  async function baseline(): Promise<number> {
    const threads = open({ threadsMax: 1 })
    await threads.warmUp(1)
    const withOne = countTasks()
    await threads[Symbol.asyncDispose]()
    await allGone(withOne - 1)
    return countTasks()
  }
})
