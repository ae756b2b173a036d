import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { LazaretError } from '../../src/core/errors/errors.ts'
import type { Work } from '../../src/core/work.ts'
import type { WorkRecord } from '../../src/observe/audit.ts'
import { policyOf } from '../../src/policy/admit.ts'
import type { Policy } from '../../src/policy/admit.ts'
import { Governor } from '../../src/policy/governor.ts'
import type { GovernorParts } from '../../src/policy/governor.ts'
import { performForAll, stand } from '../../src/policy/standing-governors.ts'
import { FakeClock } from '../pool/fake-worker.ts'

const work: Work = { kind: 'warm-up', id: 'one', language: 'shell', runtime: 'shell', count: 1 }

const calm = new AbortController().signal

function govern(parts: Partial<GovernorParts> = {}) {
  const reported: WorkRecord[] = []
  const recorded: WorkRecord[] = []
  const clock = new FakeClock()
  const governor = new Governor({
    policy: policyOf({}),
    audit: { record: async (record) => void recorded.push(record) },
    clock,
    closing: new AbortController().signal,
    onEnded: (record) => reported.push(record),
    ...parts,
  })
  return { governor, clock, reported, recorded }
}

/** Admits work when the test says so, and counts the open tickets. */
class SlowPolicy implements Policy {
  out = 0
  readonly begin = Promise.withResolvers<void>()

  async admit() {
    await this.begin.promise
    this.out++
    return {
      queuedMs: 7,
      [Symbol.asyncDispose]: async () => {
        this.out--
      },
    }
  }
}

describe('a piece of work', () => {
  test('counts from its request on, keeps its ticket while it runs, and is reported once', async () => {
    const policy = new SlowPolicy()
    const { governor, clock, reported, recorded } = govern({ policy })
    const acting = Promise.withResolvers<void>()
    const performed = governor.perform(work, async ({ queuedMs }) => {
      await acting.promise
      return queuedMs
    })
    assert.equal(governor.running('warm-up'), 1)
    policy.begin.resolve()
    await new Promise(setImmediate)
    assert.equal(policy.out, 1)
    clock.advance(30)
    acting.resolve()
    assert.equal(await performed, 7)
    assert.deepEqual([governor.running('warm-up'), policy.out], [0, 0])
    assert.deepEqual(reported, [{ work, end: { outcome: 'done' }, wallMs: 30 }])
    assert.deepEqual(recorded, reported)
  })

  for (const [what, thrown, end] of [
    ['a refusal', new LazaretError('QUEUE_FULL'), { outcome: 'refused', code: 'QUEUE_FULL' }],
    ['a fault', new LazaretError('CELL_FAILED'), { outcome: 'fault', code: 'CELL_FAILED' }],
    ['anything else', new Error('x'), { outcome: 'fault' }],
  ] as const)
    test(`that throws ${what} is reported as such, and its ticket is returned`, async () => {
      const policy = new SlowPolicy()
      policy.begin.resolve()
      const { governor, reported } = govern({ policy })
      const failing = governor.perform(work, () => Promise.reject(thrown))
      await assert.rejects(failing, thrown)
      assert.deepEqual([reported[0]?.end, reported.length, policy.out], [end, 1, 0])
    })

  test('that continues in the background ends once, whichever report comes first', async () => {
    const { governor, reported } = govern()
    const begun = await governor.begin(work)
    await begun.fail(new LazaretError('SANDBOX_GONE'))
    await begun.end({ outcome: 'done' })
    assert.deepEqual(
      reported.map(({ end }) => end.code),
      ['SANDBOX_GONE'],
    )
    assert.equal(governor.running('warm-up'), 0)
  })

  test('that is admitted too late does not begin, and its ticket is returned', async () => {
    const policy = new SlowPolicy()
    const closing = new AbortController()
    const { governor, reported, clock } = govern({ policy, closing: closing.signal })
    let acts = 0
    const act = async () => ++acts
    const performed = [
      assert.rejects(governor.perform(work, act), { code: 'DISPOSED' }),
      assert.rejects(governor.begin(work), { code: 'DISPOSED' }),
      governor.perform(work, act, { unbegun: () => 0, endOf: () => ({ outcome: 'cancelled' }) }),
    ]
    closing.abort()
    clock.advance(0)
    assert.deepEqual(await Promise.all(performed), [undefined, undefined, 0])
    policy.begin.resolve()
    await new Promise(setImmediate)
    assert.deepEqual([acts, policy.out, governor.running('warm-up')], [0, 0, 0])
    assert.deepEqual(reported.map(({ end }) => end.outcome).toSorted(), ['cancelled', 'refused', 'refused'])
  })

  test('whose record cannot be written fails, and work that failed itself reports its own error', async () => {
    const audit = { record: () => Promise.reject(new Error('the disk is full')) }
    const { governor, reported } = govern({ audit })
    await assert.rejects(
      governor.perform(work, async () => 1),
      /the disk is full/,
    )
    await assert.rejects(
      governor.perform(work, () => Promise.reject(new Error('first'))),
      /first/,
    )
    assert.deepEqual([reported, governor.running('warm-up')], [[], 0])
  })
})

describe('an operator’s function', () => {
  const admitWith = (admit: (asked: Work) => unknown) => policyOf({ admit }).admit(work, calm)

  test('refuses by what it throws, and a LazaretError is thrown as it is', async () => {
    const own = new LazaretError('QUEUE_FULL', { detail: 'Come back tomorrow.' })
    await assert.rejects(
      admitWith(() => Promise.reject(own)),
      own,
    )
    for (const thrown of [new Error('not you'), 'not you', { message: 'not you' }])
      await assert.rejects(
        admitWith(() => {
          throw thrown
        }),
        ({ code, message, cause }: LazaretError) =>
          code === 'NOT_ADMITTED' && message.includes('not you') && cause === thrown,
      )
  })

  test('admits by answering, unless the answer is false', async () => {
    for (const answer of [undefined, true, null, 0, Promise.resolve()]) await admitWith(() => answer)
    for (const answer of [false, Promise.resolve(false)])
      await assert.rejects(
        admitWith(() => answer),
        { code: 'NOT_ADMITTED' },
      )
  })

  test('is not called for snippets if those are turned off', async () => {
    const asked: string[] = []
    const policy = policyOf({ hasSnippets: false, admit: ({ kind }) => asked.push(kind) })
    await assert.rejects(policy.admit({ ...work, runtime: 'snippet' }, calm), { code: 'RUNTIME_UNAVAILABLE' })
    await policy.admit(work, calm)
    assert.deepEqual(asked, ['warm-up'])
  })
})

describe('work that belongs to no Lazaret', () => {
  test('asks all Lazarets, and reports to each', async () => {
    const [one, two] = [govern(), govern()]
    const sitDown = [stand(one.governor), stand(two.governor)]
    try {
      assert.equal(await performForAll(work, async () => 5), 5)
      assert.deepEqual([one.reported.length, two.reported.length], [1, 1])
    } finally {
      for (const end of sitDown) end()
    }
    assert.equal(await performForAll(work, async () => 6), 6)
    assert.deepEqual([one.reported.length, two.reported.length], [1, 1])
  })

  test('is refused when one of them refuses', async () => {
    const open = govern()
    const closed = govern({ policy: policyOf({ admit: () => Promise.reject(new Error('no')) }) })
    const sitDown = [stand(open.governor), stand(closed.governor)]
    let ran = false
    try {
      const performed = performForAll(work, async () => (ran = true))
      await assert.rejects(performed, { code: 'NOT_ADMITTED' })
      assert.equal(ran, false)
    } finally {
      for (const end of sitDown) end()
    }
  })
})
