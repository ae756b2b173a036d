import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { test } from 'node:test'

import { UidAllocator } from '../../src/jail/uid-range.ts'

const idsPerBlock = 256
let used = 0

/** A range that no other test, and no other run of the tests, uses at the same time. */
function freshRange(blocks: number): { first: number; count: number } {
  const first = 3_000_000_000 + (process.pid % 4096) * 65_536 + used
  used += blocks * idsPerBlock
  return { first, count: blocks * idsPerBlock }
}

async function takeAll(ids: UidAllocator, count: number): Promise<number[]> {
  return Promise.all(Array.from({ length: count }, () => ids.take()))
}

test('each cell gets two ids of its own from the range', async () => {
  const range = freshRange(1)
  await using ids = new UidAllocator(range)
  const taken = await takeAll(ids, idsPerBlock / 2)
  assert.equal(new Set(taken.flatMap((id) => [id, id + 1])).size, idsPerBlock)
  assert.ok(taken.every((id) => id >= range.first && id + 1 < range.first + range.count))
})

test('two allocators in one process never share an id', async () => {
  const range = freshRange(2)
  await using first = new UidAllocator(range)
  await using second = new UidAllocator(range)
  const taken = [...(await takeAll(first, 128)), ...(await takeAll(second, 128))]
  assert.equal(new Set(taken).size, 256)
})

test('allocators of two ranges that overlap never share an id, wherever the ranges begin', async () => {
  const range = freshRange(4)
  await using first = new UidAllocator(range)
  await using second = new UidAllocator({ first: range.first + 100, count: 3 * idsPerBlock })
  const taken = [...(await takeAll(first, 256)), ...(await takeAll(second, 128))]
  assert.equal(new Set(taken.flatMap((id) => [id, id + 1])).size, 2 * 384)
})

test('allocators in two processes never share an id, and an id is free again when its process has ended', async () => {
  const range = freshRange(2)
  const module = new URL('../../src/jail/uid-range.ts', import.meta.url).href
  const code = `
    const { UidAllocator } = await import(${JSON.stringify(module)})
    const ids = new UidAllocator(${JSON.stringify(range)})
    console.log(JSON.stringify(await Promise.all(Array.from({ length: 128 }, () => ids.take()))))
    process.stdin.resume()`
  const other = spawn(process.execPath, ['--input-type=module', '-e', code], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = once(other, 'exit')
  const [line] = (await once(createInterface(other.stdout), 'line')) as [string]
  await using ids = new UidAllocator(range)
  const ours = await takeAll(ids, 128)
  assert.equal(new Set([...ours, ...(JSON.parse(line) as number[])]).size, 256)
  await assert.rejects(ids.take(), { code: 'JAIL_UNAVAILABLE' })

  other.kill('SIGKILL')
  await ended
  await using later = new UidAllocator(range)
  assert.equal((await takeAll(later, 128)).length, 128)
})

test('an id that was given back is handed out again, the others first', async () => {
  await using ids = new UidAllocator(freshRange(1))
  const first = await ids.take()
  ids.giveBack(first)
  const rest = await takeAll(ids, 128)
  assert.equal(rest.at(-1), first)
})

test('an empty range says what to do', async () => {
  await using ids = new UidAllocator(freshRange(1))
  await takeAll(ids, 128)
  await assert.rejects(ids.take(), { code: 'JAIL_UNAVAILABLE', message: /All 256 ids/, hint: /uidRange/ })
})

test('an id that is reserved is handed out to nobody until it is given back', async () => {
  const range = freshRange(1)
  await using ids = new UidAllocator(range)
  const taken = await ids.take()
  const giveBack = await ids.reserve(range.first + 4)
  assert.ok(giveBack !== undefined)
  assert.ok(!(await takeAll(ids, 126)).includes(range.first + 4))
  await assert.rejects(ids.take(), { code: 'JAIL_UNAVAILABLE' })
  await giveBack()
  assert.equal(await ids.take(), range.first + 4)
  assert.notEqual(taken, range.first + 4)
})

test('an id that a cell has, here or elsewhere, or that is not of the range, cannot be reserved', async () => {
  const range = freshRange(2)
  await using ids = new UidAllocator(range)
  await using other = new UidAllocator(range)
  assert.equal(await ids.reserve(await ids.take()), undefined)
  assert.equal(await ids.reserve(await other.take()), undefined)
  assert.equal(await ids.reserve(range.first - 2), undefined)
  assert.equal(await ids.reserve(range.first + range.count), undefined)
})

test('a whole block that nobody has is claimed for as long as one of its ids is reserved', async () => {
  const range = freshRange(1)
  await using ids = new UidAllocator(range)
  await using other = new UidAllocator(range)
  const giveBack = await ids.reserve(range.first)
  assert.ok(giveBack !== undefined)
  await assert.rejects(other.take(), { code: 'JAIL_UNAVAILABLE' })
  await giveBack()
  await using later = new UidAllocator(range)
  assert.equal(await later.take(), range.first)
})

test('a run of pairs is in a row, in one block, and nobody else’s until it is given back', async () => {
  await using ids = new UidAllocator(freshRange(2))
  const single = await ids.take()
  const runs = await Promise.all([ids.takeRun(17), ids.takeRun(17), ids.takeRun(100)])
  const all = [single, ...runs.flatMap((first, index) => pairsFrom(first, [17, 17, 100][index] ?? 0))]
  assert.equal(new Set(all).size, all.length)
  for (const [index, first] of runs.entries()) {
    const last = first + 2 * ([17, 17, 100][index] ?? 0) - 1
    assert.equal(Math.floor(first / idsPerBlock), Math.floor(last / idsPerBlock))
  }
  const [, , longest] = runs
  ids.giveBackRun(longest, 100)
  assert.equal(await ids.takeRun(100), longest)
})

test('a run that fits nowhere is refused', async () => {
  await using ids = new UidAllocator(freshRange(1))
  await ids.take()
  await assert.rejects(ids.takeRun(128), { code: 'JAIL_UNAVAILABLE' })
})

function pairsFrom(first: number, pairs: number): number[] {
  return Array.from({ length: pairs }, (_, index) => first + 2 * index)
}
