import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { Worker } from 'node:worker_threads'

import { UidAllocator } from '../../../src/jail/machine/uid-range.ts'
import type { UidRange } from '../../../src/jail/machine/uid-range.ts'

const idsPerBlock = 256
let used = 0
const asRoot = process.geteuid?.() !== 0 && 'only root has other ids'

/** A separate folder, so that these tests' claims do not affect others. */
const folder = mkdtempSync(join(tmpdir(), 'lazaret-ids-'))
after(() => rmSync(folder, { recursive: true, force: true }))
const allocate = (range: UidRange) => new UidAllocator(range, [folder])

/** A range that no other test, and no concurrent run of the tests, uses. */
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
  await using ids = allocate(range)
  const taken = await takeAll(ids, idsPerBlock / 2)
  assert.equal(new Set(taken.flatMap((id) => [id, id + 1])).size, idsPerBlock)
  assert.ok(taken.every((id) => id >= range.first && id + 1 < range.first + range.count))
})

test('two allocators in one process never share an id', async () => {
  const range = freshRange(2)
  await using first = allocate(range)
  await using second = allocate(range)
  const taken = [...(await takeAll(first, 128)), ...(await takeAll(second, 128))]
  assert.equal(new Set(taken).size, 256)
})

test('allocators of two ranges that overlap never share an id, wherever the ranges begin', async () => {
  const range = freshRange(4)
  await using first = allocate(range)
  await using second = allocate({ first: range.first + 100, count: 3 * idsPerBlock })
  const taken = [...(await takeAll(first, 256)), ...(await takeAll(second, 128))]
  assert.equal(new Set(taken.flatMap((id) => [id, id + 1])).size, 2 * 384)
})

test('allocators in two processes never share an id, and an id is free again when its process has ended', async () => {
  const range = freshRange(2)
  const module = new URL('../../../src/jail/machine/uid-range.ts', import.meta.url).href
  const code = `
    const { UidAllocator } = await import(${JSON.stringify(module)})
    const ids = new UidAllocator(${JSON.stringify(range)}, ${JSON.stringify([folder])})
    console.log(JSON.stringify(await Promise.all(Array.from({ length: 128 }, () => ids.take()))))
    process.stdin.resume()`
  const other = spawn(process.execPath, ['--input-type=module', '-e', code], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = once(other, 'exit')
  const [line] = (await once(createInterface(other.stdout), 'line')) as [string]
  await using ids = allocate(range)
  const ours = await takeAll(ids, 128)
  assert.equal(new Set([...ours, ...(JSON.parse(line) as number[])]).size, 256)
  await assert.rejects(ids.take(), { code: 'JAIL_UNAVAILABLE' })

  other.kill('SIGKILL')
  await ended
  await using later = allocate(range)
  assert.equal((await takeAll(later, 128)).length, 128)
})

test('a returned id is assigned again, after all others', async () => {
  await using ids = allocate(freshRange(1))
  const first = await ids.take()
  ids.giveBack(first)
  const rest = await takeAll(ids, 128)
  assert.equal(rest.at(-1), first)
})

test('an empty range says what to do', async () => {
  await using ids = allocate(freshRange(1))
  await takeAll(ids, 128)
  await assert.rejects(ids.take(), { code: 'JAIL_UNAVAILABLE', message: /All 256 ids/, hint: /uidRange/ })
})

test('a reserved id is not assigned until it is returned', async () => {
  const range = freshRange(1)
  await using ids = allocate(range)
  const taken = await ids.take()
  const giveBack = await ids.reserve(range.first + 4)
  assert.ok(giveBack !== undefined)
  assert.ok(!(await takeAll(ids, 126)).includes(range.first + 4))
  await assert.rejects(ids.take(), { code: 'JAIL_UNAVAILABLE' })
  await giveBack()
  assert.equal(await ids.take(), range.first + 4)
  assert.notEqual(taken, range.first + 4)
})

test('an id that a cell of any host process has, or that is not in the range, cannot be reserved', async () => {
  const range = freshRange(2)
  await using ids = allocate(range)
  await using other = allocate(range)
  assert.equal(await ids.reserve(await ids.take()), undefined)
  assert.equal(await ids.reserve(await other.take()), undefined)
  assert.equal(await ids.reserve(range.first - 2), undefined)
  assert.equal(await ids.reserve(range.first + range.count), undefined)
})

test('a whole free block is claimed for as long as one of its ids is reserved', async () => {
  const range = freshRange(1)
  await using ids = allocate(range)
  await using other = allocate(range)
  const giveBack = await ids.reserve(range.first)
  assert.ok(giveBack !== undefined)
  await assert.rejects(other.take(), { code: 'JAIL_UNAVAILABLE' })
  await giveBack()
  await using later = allocate(range)
  assert.equal(await later.take(), range.first)
})

test(
  'a block with a running process is not assigned, but its ids can be reserved',
  { skip: asRoot },
  async () => {
    const range = freshRange(2)
    const left = range.first + 129
    const code = "import os, sys, time; os.setuid(int(sys.argv[1])); print('it', flush=True); time.sleep(60)"
    const guest = spawn('python3', ['-c', code, String(left)], { stdio: ['ignore', 'pipe', 'inherit'] })
    try {
      await once(guest.stdout, 'data')
      await using ids = allocate(range)
      assert.equal(await ids.take(), range.first + idsPerBlock)
      const giveBack = await ids.reserve(left - 1)
      assert.ok(giveBack !== undefined)
      await giveBack()
    } finally {
      guest.kill('SIGKILL')
      await once(guest, 'exit')
    }
    await using later = allocate(range)
    assert.equal(await later.take(), range.first)
  },
)

test('a run of pairs is contiguous, in one block, and exclusive until it is returned', async () => {
  await using ids = allocate(freshRange(2))
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
  await using ids = allocate(freshRange(1))
  await ids.take()
  await assert.rejects(ids.takeRun(128), { code: 'JAIL_UNAVAILABLE' })
})

function pairsFrom(first: number, pairs: number): number[] {
  return Array.from({ length: pairs }, (_, index) => first + 2 * index)
}

test('allocators in two threads of one process never share an id, and a thread’s are free when it has ended', async () => {
  const range = freshRange(2)
  const module = new URL('../../../src/jail/machine/uid-range.ts', import.meta.url).href
  const code = `
    const { parentPort } = require('node:worker_threads')
    import(${JSON.stringify(module)}).then(async ({ UidAllocator }) => {
      const ids = new UidAllocator(${JSON.stringify(range)}, ${JSON.stringify([folder])})
      parentPort.postMessage(await Promise.all(Array.from({ length: 128 }, () => ids.take())))
      parentPort.once('message', () => undefined)
    })`
  const thread = new Worker(code, { eval: true })
  const [theirs] = (await once(thread, 'message')) as [number[]]
  await using ids = allocate(range)
  assert.equal(new Set([...theirs, ...(await takeAll(ids, 128))]).size, 256)
  await thread.terminate()
  await using later = allocate(range)
  assert.equal((await takeAll(later, 128)).length, 128)
})

test('ids are claimed in the next folder if the first cannot be written to', async () => {
  const range = freshRange(1)
  await using ids = new UidAllocator(range, ['/proc/lazaret', folder])
  await using other = allocate(range)
  await ids.take()
  await assert.rejects(other.take(), { code: 'JAIL_UNAVAILABLE', message: /All 256 ids/ })
})

test('a machine without such a folder gets an error that names it', async () => {
  await using ids = new UidAllocator(freshRange(1), ['/proc/lazaret'])
  await assert.rejects(ids.take(), { code: 'JAIL_UNAVAILABLE', message: /cannot be claimed/, hint: /\/run/ })
})

test('a folder or file that others could have created is not used', async () => {
  const open = join(folder, 'open')
  mkdirSync(open)
  chmodSync(open, 0o755)
  const link = join(folder, 'link')
  symlinkSync(folder, link)
  const own = join(folder, 'own')
  mkdirSync(own, { mode: 0o700 })
  symlinkSync('/dev/null', join(own, 'ids'))
  for (const path of [open, link, own]) {
    await using ids = new UidAllocator(freshRange(1), [path])
    await assert.rejects(ids.take(), { code: 'JAIL_UNAVAILABLE', message: /cannot be claimed/ }, path)
  }
})

test('a claim that was prepared is used', async () => {
  const range = freshRange(1)
  await using ids = allocate(range)
  ids.prepare()
  assert.equal(await ids.take(), range.first)
  ids.prepare()
  assert.equal((await takeAll(ids, 127)).length, 127)
})
