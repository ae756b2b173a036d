/** Zygotes, the interpreters that workers are forks of: how long one serves, and what happens to one that cannot. */
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'

import { systemClock } from '../../src/core/clock.ts'
import { defaultLimits } from '../../src/core/limits.ts'
import { Machine } from '../../src/jail/machine/machine.ts'
import { defaultUidRange } from '../../src/jail/machine/uid-range.ts'
import { shapeOf } from '../../src/pool/shape.ts'
import { Zygotes } from '../../src/pool/zygotes.ts'
import type { ZygotesParts } from '../../src/pool/zygotes.ts'
import { bunRuntime } from '../../src/runtimes/bun/host.ts'
import { Toolchains } from '../../src/runtimes/packages/toolchains.ts'
import { eventually } from '../support/eventually.ts'

const machine = new Machine({ uidRange: defaultUidRange })
const canFork = machine.wall === 'namespaces' && process.arch === 'x64'
const waitMs = 20_000
const minuteMs = 60_000
const grounds = { limits: defaultLimits, usual: defaultLimits, memoryHeldByCgroup: true }
const shape = shapeOf({ language: 'javascript' }, bunRuntime, grounds)
/** The maximum number of zygotes. */
const zygotesMax = 16

describe('zygotes', { skip: !canFork && 'behind namespaces, on x64' }, () => {
  after(() => machine[Symbol.asyncDispose]())

  const zygotesWith = (parts: Partial<ZygotesParts>): Zygotes =>
    new Zygotes({
      ...{
        machine,
        clock: systemClock,
        toolchains: new Toolchains(),
        readable: [],
        packages: {},
        usual: defaultLimits,
      },
      ...{ prove: () => Promise.resolve(), onZygoteFailing: (_shape, reason) => assert.fail(String(reason)) },
      ...parts,
    })

  test('one whose forks do not work is not used, which is reported once', async () => {
    const reported: string[] = []
    const onZygoteFailing: ZygotesParts['onZygoteFailing'] = ({ runtime }, reason) =>
      void reported.push(`${runtime.name}: ${String(reason)}`)
    await using zygotes = zygotesWith({ prove: () => Promise.reject(new Error('it hangs')), onZygoteFailing })
    assert.equal(await zygotes.take(shape), null)
    zygotes.giveUp(shape)
    assert.equal(await zygotes.take(shape), null)
    assert.deepEqual(reported, ['bun: Error: it hangs'])
  })

  test('one is replaced after a while, and serves until the next one is ready', async () => {
    let later = 0
    const clock = { ...systemClock, now: () => systemClock.now() + later }
    await using zygotes = zygotesWith({ clock })
    const first = await zygotes.take(shape)
    assert.ok(first !== null)
    later = 14 * minuteMs
    assert.equal(await zygotes.take(shape), first)
    later = 16 * minuteMs
    assert.equal(await zygotes.take(shape), first)
    await eventually(() => (first.alive ? 'the first one is there' : undefined), waitMs)
    const second = await zygotes.take(shape)
    assert.ok(second?.alive === true && second !== first)
  })

  test('one is replaced after the maximum number of forks', async () => {
    await using zygotes = zygotesWith({})
    const first = await zygotes.take(shape)
    assert.ok(first !== null)
    for (let forks = 1; forks < 1000; forks++) assert.equal(await zygotes.take(shape), first)
    assert.equal(first.alive, true)
    assert.equal(await zygotes.take(shape), first)
    await eventually(() => (first.alive ? 'the first one is there' : undefined), waitMs)
  })

  test('one that was used recently is not replaced by another', async () => {
    let later = 0
    const clock = { ...systemClock, now: () => later }
    const asked: string[] = []
    await using zygotes = zygotesWith({ clock })
    const takeFor = (client: string): Promise<unknown> => {
      const plan = () => (asked.push(client), null)
      return zygotes.take({ ...shape, client, runtime: { ...bunRuntime, zygote: { plan } } })
    }
    const clients = Array.from({ length: zygotesMax }, (_, index) => `client ${index}`)
    for (const client of clients) await takeFor(client)
    await takeFor('one too many')
    assert.deepEqual(asked, clients)
    later = 11_000
    for (const client of ['client 0', 'one too many', 'client 0', 'client 1']) await takeFor(client)
    assert.deepEqual(asked, [...clients, 'one too many', 'client 1'])
  })

  test('only those whose workers are no longer needed are ended', async () => {
    await using zygotes = zygotesWith({})
    const [ada, bob] = [
      { ...shape, client: 'ada' },
      { ...shape, client: 'bob' },
    ]
    const first = await zygotes.take(ada)
    const second = await zygotes.take(bob)
    assert.ok(first !== null && second !== null && first !== second)
    await zygotes.close([bob])
    assert.deepEqual([first.alive, second.alive], [false, true])
    assert.equal(await zygotes.take(bob), second)
  })
})
