/** Pools with real cells in them: what waits, for whom, and what becomes of it. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, test } from 'node:test'

import { createLazaret } from '../support/create-lazaret.ts'
import type { LazaretEvent, RunRequest } from '../../src/index.ts'
import { checkoutRoot } from '../support/sources/checkout.ts'
import { eventually } from '../support/eventually.ts'
import { listCells, listDescendants } from '../support/machine/processes.ts'
import {
  isServedWarm,
  parkedRuntimes,
  parkingMs,
  waitForParked,
  withLazaret,
} from '../support/parked-workers.ts'
import { isWarm, runParked, warmUpFor } from '../support/run-parked.ts'
import { bun, node, python, shell, useLazaret } from '../support/use-lazaret.ts'

const guests = await useLazaret({ pools: {}, access: { preload: true } })
const { lazaret } = guests
const run = runParked(lazaret, guests.run)
const ok = { kind: 'completed', exitCode: 0 }

/** Until one is warm. */
async function rightAfterEachOther(most: number, isNextWarm: () => Promise<boolean>): Promise<boolean[]> {
  const starts: boolean[] = []
  while (starts.length < most && starts.at(-1) !== true) starts.push(await isNextWarm())
  return starts
}
describe('workers are parked', () => {
  for (const guest of parkedRuntimes) {
    test(`${guest.runtime}: for the third run of a shape, not for the second`, async () => {
      const request = { ...guest, code: '' }
      assert.equal(await isServedWarm(request, lazaret), false)
      assert.deepEqual(
        lazaret.stats().pools.map(({ wanted, parked, starting }) => ({ wanted, parked, starting })),
        [{ wanted: 0, parked: 0, starting: 0 }],
      )
      assert.equal(await isServedWarm(request, lazaret), false)
      await waitForParked(1, lazaret)
      assert.equal(await isServedWarm(request, lazaret), true)
      const [pool] = lazaret.stats().pools
      assert.deepEqual(
        [pool?.runtime, pool?.language, pool?.network, pool?.served, pool?.missed],
        [guest.runtime, guest.language, 'none', 1, 2],
      )
      // Another takes the place of the one that went.
      await waitForParked(1, lazaret)
    })
  }

  test('for runs in quick succession, after a worker had time to start', async () => {
    const runsMax = 200
    for (const guest of parkedRuntimes)
      await withLazaret({}, async (own) => {
        const starts = await rightAfterEachOther(runsMax, () => isServedWarm({ ...guest, code: '' }, own))
        assert.equal(starts.at(-1), true, `${guest.runtime}: ${starts.length} runs were cold`)
        assert.deepEqual(
          starts.slice(0, 2),
          [false, false],
          'nobody has asked for a worker before the second',
        )
      })
  })

  test('as many as were requested, until they are released', async () => {
    await lazaret.warmUp({ language: 'shell', count: 3 })
    // Where a cgroup counts, shells are spaces of one cell, each with a pid 1.
    const firsts = listCells().flatMap(({ pid1, guests: inside }) => {
      const spaces = inside.filter(({ pids }) => pids.at(-1) === 1)
      return spaces.length > 0 ? spaces : [pid1]
    })
    assert.deepEqual([lazaret.stats().pools[0]?.parked, firsts.length], [3, 3])
    await lazaret.releaseWorkers()
    assert.deepEqual([lazaret.stats(), listCells()], [{ running: 0, waiting: 0, pools: [] }, []])
    assert.equal(await isServedWarm({ ...shell, code: ':' }, lazaret), false)
  })

  test('at least `min`, from the first run on', async () => {
    await withLazaret({ pools: { shell: { min: 2 } } }, async (own) => {
      assert.equal(await isServedWarm({ ...shell, code: ':' }, own), false)
      await waitForParked(2, own)
    })
  })

  test('at most `max`, whatever is requested', async () => {
    await withLazaret({ pools: { shell: { max: 2 } } }, async (own) => {
      await own.warmUp({ language: 'shell', count: 5 })
      const [pool] = own.stats().pools
      assert.deepEqual([pool?.parked, pool?.wanted, pool?.starting], [2, 2, 0])
    })
  })

  test('also if two shapes together want more than the total maximum', async () => {
    const request = { language: 'shell', count: 20 } as const
    const access = { networks: ['none', 'host'] } as const
    await withLazaret({ access, pools: { shell: { min: 20, max: 20 } } }, async (own) => {
      await Promise.all([
        own.warmUp({ ...request, network: 'none' }),
        own.warmUp({ ...request, network: 'host' }),
      ])
      const parked = own.stats().pools.map((pool) => pool.parked)
      assert.ok(Math.min(...parked) > 0 && Math.max(...parked) <= 20, JSON.stringify(parked))
    })
  })

  test('never if `max` is 0', async () => {
    await withLazaret({ pools: { shell: { max: 0 } } }, async (own) => {
      await own.warmUp({ language: 'shell' })
      for (let time = 0; time < 3; time++)
        assert.equal(await isServedWarm({ ...shell, code: ':' }, own), false)
      assert.deepEqual(own.stats().pools, [])
    })
  })

  test('for requests with variables that nothing has read before', async () => {
    for (const guest of parkedRuntimes) {
      await warmUpFor(lazaret, { ...guest, code: '' })
      assert.equal(await isServedWarm({ ...guest, code: '', env: {} }, lazaret), true)
      await warmUpFor(lazaret, { ...guest, code: '' })
      const isFound = await isServedWarm({ ...guest, code: '', env: { A: 'b' } }, lazaret)
      assert.equal(isFound, guest !== bun, guest.runtime)
      await warmUpFor(lazaret, { ...guest, code: '' })
      const isFoundForAll = await isServedWarm({ ...guest, code: '', env: { A: 'b', LANG: 'C' } }, lazaret)
      assert.equal(isFoundForAll, guest === shell, guest.runtime)
    }
  })

  test('and get the variables of their run', async () => {
    const programs = {
      python: {
        ...python,
        code: `
import ctypes, os, subprocess
[os.environ['SECRET'], os.environ['HOME'], ctypes.CDLL(None).getenv(b'SECRET') != 0, os.path.expanduser('~'),
 subprocess.run(['sh', '-c', 'echo $SECRET'], capture_output=True, text=True).stdout.strip()]`,
      },
      node: {
        ...node,
        code: `
const { execSync } = require('node:child_process'), { Worker } = require('node:worker_threads')
const worker = new Worker('require("node:worker_threads").parentPort.postMessage(process.env.SECRET)', { eval: true })
const inWorker = await new Promise((resolve) => worker.on('message', resolve))
await worker.terminate()
;[process.env.SECRET, process.env.HOME, inWorker, require('node:os').homedir(), String(execSync('echo $SECRET')).trim()]`,
      },
    }
    for (const request of Object.values(programs)) {
      const asked = { ...request, env: { SECRET: 'väl=ue', HOME: '/tmp' } }
      const cold = await guests.run(asked)
      const warm = await run(asked)
      assert.deepEqual([isWarm(cold), isWarm(warm)], [false, true])
      assert.deepEqual([warm.outcome, warm.value], [ok, cold.value], warm.stderr)
      // Nobody else finds them.
      assert.ok(
        !JSON.stringify(
          (
            await run({
              ...request,
              env: { OTHER: '' },
              code: request === programs.node ? 'process.env' : 'import os; dict(os.environ)',
            })
          ).value,
        ).includes('SECRET'),
      )
    }
  })

  test('separately for requests with higher limits', async () => {
    const code =
      'import resource\nresource.getrlimit(resource.RLIMIT_NOFILE)[0] == resource.getrlimit(7)[1] == 300'
    const more = { ...python, code, limits: { openFilesMax: 300 } }
    await lazaret.warmUp({ language: 'python' })
    assert.equal(await isServedWarm(more, lazaret), false)
    const { value, receipt } = await run(more)
    assert.deepEqual([value, receipt.limits.openFilesMax.value], [true, 300])
    assert.equal(lazaret.stats().pools.length, 2)
  })
})

describe('modules that are loaded ahead', () => {
  const code = `import sys\n'colorsys' in sys.modules`

  test('are loaded when a run begins', async () => {
    assert.equal((await run({ ...python, code })).value, false)
    assert.equal((await run({ ...python, code, preload: ['json', 'colorsys'] })).value, true)
  })

  test('and do not exist fail each warm-up, and runs work without them', async () => {
    const events: LazaretEvent[] = []
    await withLazaret(
      { onEvent: (event) => events.push(event), preload: ['no_such_module'] },
      async (own) => {
        for (let time = 0; time < 3; time++)
          await assert.rejects(own.warmUp({ language: 'python' }), /no_such_module/)
        const { value, receipt } = await own.run({ ...python, code })
        assert.deepEqual([value, receipt.start], [false, 'cold'])
        const failing = events.filter(({ type }) => type === 'pool-failing')
        assert.equal(failing.length, 1)
        assert.match(JSON.stringify(failing), /python.*no_such_module/)
        // The pool may have tried by itself meanwhile.
        assert.ok((own.stats().pools[0]?.failures ?? 0) >= 3)
      },
    )
  })
})

describe('many runs at one moment', () => {
  test('are all served, each with its own result', async () => {
    const numbers = Array.from({ length: 50 }, (_, index) => index)
    const results = await Promise.all(
      numbers.map((number) => guests.run({ ...python, code: 'input_data', input: number })),
    )
    assert.deepEqual(
      results.map(({ value }) => value),
      numbers,
    )
    assert.ok(results.some(({ usage }) => usage.queuedMs > 0))
  })

  test('are forked from the running interpreter if no worker is parked', async (t) => {
    await lazaret.warmUp({ ...python, count: 1 })
    const first = await guests.run({ ...python, code: '1' })
    if (first.receipt.start !== 'forked') return t.skip('interpreters fork only behind namespaces')
    await waitForParked(1, lazaret)
    const results = await Promise.all(
      Array.from({ length: 20 }, (_, input) => guests.run({ ...python, code: 'input_data', input })),
    )
    assert.deepEqual(
      results.map(({ value, receipt }) => [value, receipt.start]),
      results.map((_, input) => [input, 'forked']),
    )
  })

  test('wait in a queue, which a cancelled run leaves at once', async () => {
    const controller = new AbortController()
    const ended: string[] = []
    const note = async (name: string, request: RunRequest) => {
      const result = await guests.run(request)
      ended.push(name)
      return result
    }
    const others = Array.from({ length: 40 }, () => note('other', { ...node, code: '1' }))
    const leaving = note('leaving', { ...node, code: '1', signal: controller.signal })
    await eventually(() => (lazaret.stats().waiting > 0 ? undefined : 'nobody waits'), parkingMs)
    controller.abort()
    const { outcome, stdout, usage, receipt } = await leaving
    assert.deepEqual([outcome, stdout, usage.wallMs], [{ kind: 'cancelled' }, '', 0])
    assert.deepEqual([ended.indexOf('leaving') < others.length / 2, receipt.layers], [true, []])
    for (const { outcome: other } of await Promise.all(others)) assert.deepEqual(other, ok)
    assert.deepEqual([lazaret.stats().waiting, lazaret.stats().running], [0, 0])
  })
})

describe('the end', () => {
  test('comes while workers are being started, and leaves none of them', async () => {
    for (const when of ['at once', 'in a moment', 'while it starts'] as const) {
      const own = createLazaret({ pools: { python: { min: 3 } } })
      await own.run({ ...python, code: '1' })
      // All of them may stand before anybody looks.
      const isStarting = () => own.stats().pools.some(({ starting, parked }) => starting + parked > 0)
      if (when === 'in a moment') await new Promise(setImmediate)
      if (when === 'while it starts')
        await eventually(() => (isStarting() ? undefined : 'nothing starts'), parkingMs)
      await own[Symbol.asyncDispose]()
      await guests.leaks.check()
    }
  })

  test('of a host that disposes nothing comes by itself', async () => {
    const program = `
      import { createLazaret } from ${JSON.stringify(join(checkoutRoot, 'dist/index.js'))}
      const lazaret = createLazaret()
      await lazaret.warmUp({ language: 'python', count: 2 })
      await lazaret.warmUp({ language: 'shell' })
      const { value } = await lazaret.run({ language: 'python', code: '6 * 7' })
      console.log(value)
      await new Promise((resolve) => process.stdin.once('data', resolve))
      process.stdin.destroy()`
    const host = spawn(process.execPath, ['--input-type=module', '--eval', program])
    const [stderr, ended] = [text(host.stderr), once(host, 'exit')]
    try {
      const [printed] = (await Promise.race([once(host.stdout, 'data'), ended])) as [Buffer | number]
      assert.equal(String(printed), '42\n')
      const started = listDescendants(Number(host.pid))
      assert.ok(started.length >= 5, JSON.stringify(started))
      guests.leaks.noteProcesses(started)
      host.stdin.write('end')
      assert.deepEqual(await ended, [0, null], await stderr)
    } finally {
      host.kill('SIGKILL')
    }
  })
})
