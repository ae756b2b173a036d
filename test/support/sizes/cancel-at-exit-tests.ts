/** The same test in several sizes: runs that are cancelled at the moment when their guest ends. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { after, test } from 'node:test'

import { shell } from '../use-lazaret.ts'
import type { TestLazaret } from '../use-lazaret.ts'

const atOnce = 4

export async function testCancelsAtExit(guests: TestLazaret, times: number): Promise<void> {
  const bystander = spawn('sleep', ['600'], { stdio: 'ignore' })
  await once(bystander, 'spawn')
  guests.leaks.allow(bystander.pid as number)
  after(async () => {
    bystander.kill('SIGKILL')
    await once(bystander, 'exit')
  })
  const stop = new AbortController()

  test(`${times} runs cancelled at their exit are completed or cancelled, and no other process is killed`, async () => {
    const other = guests.run({
      ...shell,
      code: 'while [ ! -e /tmp/never ]; do sleep 0.1; done',
      limits: { wallMs: 120_000 },
      signal: stop.signal,
    })
    const seen = new Set<string>()
    for (let round = 0; round < times; round += atOnce) {
      const kinds = await Promise.all(Array.from({ length: atOnce }, (_, i) => cancelOnce(guests, round + i)))
      for (const kind of kinds) seen.add(kind)
    }
    assert.deepEqual(
      [...seen].filter((kind) => kind !== 'completed' && kind !== 'cancelled'),
      [],
    )
    assert.ok(seen.has('cancelled'))
    assert.deepEqual([bystander.exitCode, bystander.signalCode], [null, null])
    stop.abort()
    assert.equal((await other).outcome.kind, 'cancelled')
  })
}

/** Cancels a run at the output of its guest or a few milliseconds later, at a moment that depends on `round`. */
async function cancelOnce(guests: TestLazaret, round: number): Promise<string> {
  const controller = new AbortController()
  const abort = () => controller.abort()
  const moments = [
    abort,
    () => queueMicrotask(abort),
    () => setImmediate(abort),
    () => setTimeout(abort, round % 5),
  ]
  const onOutput = moments[round % moments.length] ?? abort
  const { outcome } = await guests.run({ ...shell, code: 'echo end', signal: controller.signal, onOutput })
  if (outcome.kind === 'completed') assert.equal(outcome.exitCode, 0)
  return outcome.kind
}
