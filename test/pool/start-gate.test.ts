import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { test } from 'node:test'

import { StartGate } from '../../src/pool/start-gate.ts'
import type { Leave, Turn } from '../../src/pool/start-gate.ts'

/** Requests turns at a gate, and records by name which are granted or served. */
class Crowd {
  readonly gate: StartGate<string>
  /** The names in the order of their turns. */
  readonly served: string[] = []
  readonly leaves: Leave[] = []

  constructor(most: number) {
    this.gate = new StartGate<string>(most)
  }

  async ask(
    name: string,
    { client = '', key = '', signal = new AbortController().signal } = {},
  ): Promise<Turn<string>> {
    const turn = await this.gate.enter({ client, key, signal })
    this.served.push(name)
    if (turn !== null && 'leave' in turn) this.leaves.push(turn.leave)
    return turn
  }

  /** Resolves when all promises that are settled so far have been handled. */
  async settle(): Promise<void> {
    await new Promise(setImmediate)
  }

  async leaveOne(): Promise<void> {
    this.leaves.shift()?.()
    await this.settle()
  }
}

test('no more than the maximum start at one time', async () => {
  const crowd = new Crowd(2)
  for (const name of ['a', 'b', 'c', 'd', 'e']) void crowd.ask(name)
  await crowd.settle()
  assert.deepEqual([crowd.served, crowd.gate.waiting], [['a', 'b'], 3])
  await crowd.leaveOne()
  assert.deepEqual([crowd.served, crowd.gate.waiting], [['a', 'b', 'c'], 2])
  for (let left = 4; left > 0; left--) {
    assert.ok(crowd.leaves.length <= 2)
    await crowd.leaveOne()
  }
  assert.deepEqual(crowd.served, ['a', 'b', 'c', 'd', 'e'])
  assert.ok(crowd.gate.isIdle)
})

test('a permission that is returned twice counts once', async () => {
  const crowd = new Crowd(1)
  for (const name of ['a', 'b', 'c']) void crowd.ask(name)
  await crowd.settle()
  const [leave] = crowd.leaves
  leave?.()
  leave?.()
  await crowd.settle()
  assert.deepEqual(crowd.served, ['a', 'b'])
})

test('clients are admitted in turn', async () => {
  const crowd = new Crowd(1)
  void crowd.ask('first')
  for (const name of ['a1', 'a2', 'a3']) void crowd.ask(name, { client: 'a' })
  void crowd.ask('b1', { client: 'b' })
  await crowd.settle()
  while (crowd.leaves.length > 0) await crowd.leaveOne()
  assert.deepEqual(crowd.served, ['first', 'a1', 'b1', 'a2', 'a3'])
})

test('a request that is cancelled while it waits resolves at once, and the next one gets its place', async () => {
  const crowd = new Crowd(1)
  const controller = new AbortController()
  void crowd.ask('first')
  const cancelled = crowd.ask('cancelled', { signal: controller.signal })
  void crowd.ask('next')
  await crowd.settle()
  controller.abort()
  assert.equal(await cancelled, null)
  assert.equal(crowd.gate.waiting, 1)
  await crowd.leaveOne()
  assert.deepEqual(crowd.served, ['first', 'cancelled', 'next'])
})

test('a cancelled request takes no place, and a served one stops listening to its signal', async () => {
  const crowd = new Crowd(1)
  assert.equal(await crowd.ask('late', { signal: AbortSignal.abort() }), null)
  assert.ok(crowd.gate.isIdle)
  const { signal } = new AbortController()
  void crowd.ask('first')
  void crowd.ask('second', { signal })
  await crowd.settle()
  await crowd.leaveOne()
  assert.deepEqual(crowd.served, ['late', 'first', 'second'])
  assert.equal(getEventListeners(signal, 'abort').length, 0)
})

test('a worker goes to the first request that can use it', async () => {
  const crowd = new Crowd(1)
  void crowd.ask('first')
  const [red, blue] = [crowd.ask('red', { key: 'red' }), crowd.ask('blue', { key: 'blue' })]
  await crowd.settle()
  assert.equal(crowd.gate.offer('green', 'worker'), false)
  assert.equal(crowd.gate.offer('blue', 'worker'), true)
  assert.deepEqual(await blue, { worker: 'worker' })
  assert.deepEqual([crowd.served, crowd.gate.waiting], [['first', 'blue'], 1])
  await crowd.leaveOne()
  assert.ok('leave' in ((await red) ?? {}))
  assert.equal(crowd.gate.offer('red', 'too late'), false)
})

test('a start that no run waits for takes room from later ones', async () => {
  const crowd = new Crowd(1)
  const leave = crowd.gate.start()
  void crowd.ask('a')
  await crowd.settle()
  assert.deepEqual(crowd.served, [])
  leave()
  await crowd.settle()
  assert.deepEqual(crowd.served, ['a'])
})

test('reports exactly when no request waits and there is room', async () => {
  const crowd = new Crowd(1)
  let idle = 0
  crowd.gate.onIdle = () => {
    assert.ok(crowd.gate.isIdle)
    idle++
  }
  for (const name of ['a', 'b']) void crowd.ask(name)
  await crowd.settle()
  await crowd.leaveOne()
  assert.equal(idle, 0)
  await crowd.leaveOne()
  assert.equal(idle, 1)
})

test('refuses a request behind ten thousand others', async () => {
  const crowd = new Crowd(1)
  void crowd.ask('first')
  for (let waiting = 0; waiting < 10_000; waiting++) void crowd.ask('one of many')
  await assert.rejects(crowd.ask('one too many'), { code: 'QUEUE_FULL' })
  assert.equal(crowd.gate.waiting, 10_000)
})
