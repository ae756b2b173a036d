/** A fork of Bun or Node abuses the machinery of its zygote: the signals that park and revive threads, and the room for forks. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import type { LazaretEvent, RunRequest, RunResult } from '../../../src/index.ts'
import { bun, node, useLazaret } from '../../support/use-lazaret.ts'

const events: LazaretEvent[] = []
const { lazaret, level, run } = await useLazaret({
  pools: { bun: { max: 40 }, node: { max: 40 } },
  queue: { runningMax: 100, memoryTotalBytes: 2 ** 40 },
  onEvent: (event) => events.push(event),
})
const canFork = level !== 'restricted' && process.arch === 'x64'

for (const engine of [bun, node])
  describe(`a fork of ${engine.runtime}`, { skip: !canFork && 'behind namespaces, on x64' }, () =>
    attack(engine),
  )

function attack(engine: typeof bun | typeof node): void {
  async function fork(request: Partial<RunRequest> & { readonly code: string }): Promise<RunResult> {
    await lazaret.warmUp({ ...engine })
    const result = await run({ ...engine, ...request })
    assert.equal(result.receipt.start, 'forked')
    return result
  }

  test('gains nothing by the signal that recreates its threads', async () => {
    const code = `
      const { spawnSync } = require('node:child_process')
      const { readFileSync } = require('node:fs')
      spawnSync('sh', ['-c', 'i=0; while [ $i -lt 300 ]; do kill -55 ' + process.pid + ' || exit; i=$((i+1)); done'])
      let sum = 0
      for (let i = 0; i < 3e7; i++) sum += i % 7
      await new Promise((done) => setTimeout(done, 5))
      const digest = await crypto.subtle.digest('SHA-256', new Uint8Array(1 << 20))
      const [, threads] = /^Threads:\\s+(\\d+)/m.exec(readFileSync('/proc/self/status', 'latin1'))
      ;[sum, digest.byteLength, threads < 20]`
    const { value, outcome, stderr } = await fork({ code })
    assert.deepEqual([value, outcome.kind], [[89_999_995, 32, true], 'completed'], stderr)
  })

  test('only ends itself if it sends itself the signal that parks threads', async () => {
    const code = `require('node:child_process').execSync('kill -33 ' + process.ppid + '; kill -33 ' + process.pid); 1`
    const { outcome } = await fork({ code })
    assert.notEqual(outcome.kind, 'timed-out')
    assert.equal((await fork({ code: '6 * 7' })).value, 42)
  })

  test('that takes every fork prevents no other run, and forks are available again after it', async () => {
    const forksMax = 32
    await lazaret.warmUp({ ...engine, count: forksMax })
    const stay = new AbortController()
    const endless = { ...engine, code: 'setInterval(() => {}, 1000)' }
    const hoard = Array.from({ length: forksMax }, (_, index) =>
      lazaret.run({ ...endless, client: `${index}`, signal: stay.signal }),
    )
    const other = await run({ ...engine, code: '6 * 7' })
    assert.deepEqual([other.value, other.outcome.kind], [42, 'completed'], other.stderr)
    stay.abort()
    const ends = await Promise.all(hoard)
    assert.ok(ends.every(({ outcome }) => outcome.kind === 'cancelled'))
    assert.deepEqual(new Set(ends.map(({ receipt }) => receipt.start)), new Set(['forked']))
    // Their resources are returned when the last process is gone.
    await lazaret.releaseWorkers()
    assert.equal((await fork({ code: '6 * 7' })).value, 42)
    assert.deepEqual(
      events.filter(({ type }) => type === 'zygote-failing' || type === 'pool-failing'),
      [],
    )
  })
}
