/** The time that one run may take on the host's event loop. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { loopTime, processorMs } from '../../src/core/clock.ts'
import { HostBudget } from '../../src/runtimes/channel/host-budget.ts'

/** A budget of 10 ms, and work that takes as long as a test says, on a loop that gets a share of a processor. */
function open(share = 1) {
  let [now, spent] = [0, 0]
  const budget = new HostBudget({ now: () => now }, 10, () => ({ activeMs: now, processorMs: now * share }))
  budget.onSpent = () => spent++
  const work = (ms: number) => void (now += ms)
  return { budget, work, spent: () => spent }
}

test('a budget holds exactly as much work as it has time, and reports once that it is spent', () => {
  const { budget, work, spent } = open()
  budget.measure(() => work(4))
  budget.measure(() => work(6))
  assert.deepEqual([budget.isOver, budget.leftMs, spent()], [false, 0, 0])
  budget.measure(() => work(1))
  budget.measure(() => work(1))
  assert.deepEqual([budget.isOver, spent()], [true, 1])
})

test('work that throws is charged, too', () => {
  const { budget, work, spent } = open()
  const fail = () => {
    work(11)
    throw new Error('mistake')
  }
  assert.throws(() => budget.measure(fail), { message: 'mistake' })
  assert.deepEqual([budget.isOver, spent()], [true, 1])
})

test('steps end where the budget does, and what follows them is not done', async () => {
  const { budget, work, spent } = open()
  let [steps, ends] = [0, 0]
  function* count() {
    while (steps < 100) {
      steps++
      work(3)
      yield
    }
  }
  await new Promise<void>((resolve) => {
    const countSpent = budget.onSpent
    budget.onSpent = () => {
      countSpent()
      resolve()
    }
    // In as many turns of the loop as it needs.
    budget.perform(count(), () => {
      ends++
      resolve()
    })
  })
  assert.deepEqual([steps, ends, budget.isOver, spent()], [4, 0, true, 1])
  budget.perform(count(), () => ends++)
  assert.deepEqual([steps, ends], [4, 0])
})

test('a run does not pay for the time in which other processes had the processor', () => {
  const { budget, work, spent } = open(1 / 4)
  for (let pieces = 0; pieces < 40; pieces++) budget.measure(() => work(1))
  assert.deepEqual([budget.isOver, spent()], [false, 0])
  budget.measure(() => work(1))
  assert.deepEqual([budget.isOver, spent()], [true, 1])
})

test('a loop that had the processor for its own work has used it up', () => {
  const before = loopTime()
  const startedMs = processorMs()
  while (processorMs() < startedMs + 20);
  const { activeMs, processorMs: usedMs } = loopTime()
  assert.ok(usedMs - before.processorMs >= 20)
  // The two clocks are read one after the other.
  assert.ok(activeMs - before.activeMs >= usedMs - before.processorMs - 1)
})
