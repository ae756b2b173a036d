/** Cancelling at the very moment a guest ends: it must never hit a stranger, hang, or lose the run. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { after, test } from 'node:test'

import { shell, useLazaret } from '../support/use-lazaret.ts'

const guests = await useLazaret()

const bystander = spawn('sleep', ['600'], { stdio: 'ignore' })
await once(bystander, 'spawn')
guests.leaks.allow(bystander.pid as number)
after(async () => {
  bystander.kill('SIGKILL')
  await once(bystander, 'exit')
})

const stop = new AbortController()
const times = 1000
const atOnce = 4

/** From before the guest starts to after it has ended: a different moment each time. */
async function cancelOnce(round: number): Promise<string> {
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

test(`${times} runs cancelled at their exit are completed or cancelled, and nobody else is hurt`, async () => {
  const other = guests.run({
    ...shell,
    code: 'while [ ! -e /tmp/never ]; do sleep 0.1; done',
    limits: { wallMs: 120_000 },
    signal: stop.signal,
  })
  const seen = new Set<string>()
  for (let round = 0; round < times; round += atOnce) {
    const kinds = await Promise.all(Array.from({ length: atOnce }, (_, i) => cancelOnce(round + i)))
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

test('a run that is cancelled before it starts is cancelled', async () => {
  const { outcome, stdout } = await guests.run({
    ...shell,
    code: 'echo never; sleep 60',
    signal: AbortSignal.abort(),
  })
  assert.deepEqual([outcome, stdout], [{ kind: 'cancelled' }, ''])
})
