/**
 * Forks of one zygote of Bun or Node: what one can learn about another, about earlier runs and about later ones, through memory,
 * descriptors and random numbers.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import type { RunRequest, RunResult } from '../../../src/index.ts'
import { createLazaret } from '../../support/create-lazaret.ts'
import { bun, node, noPools, useLazaret } from '../../support/use-lazaret.ts'

const { lazaret, level, run } = await useLazaret({ pools: { bun: {}, node: {} } })
const canFork = level !== 'restricted' && process.arch === 'x64'

/** Its own words, which are in its memory too, do not match the pattern. */
const scanMemory = `
const { openSync, readSync, readFileSync } = require('node:fs')
const [memory, pages] = ['mem', 'pagemap'].map((name) => openSync('/proc/self/' + name, 'r'))
const page = 4096, room = 256, chunk = Buffer.alloc(room * page), facts = Buffer.alloc(room * 8)
let hits = 0, bytes = 0
for (const [, from, until] of readFileSync('/proc/self/maps', 'latin1').matchAll(/^(\\w+)-(\\w+) r/gm)) {
  for (let at = parseInt(from, 16) / page; at < parseInt(until, 16) / page && at < 2 ** 35; at += room) {
    const count = Math.min(room, parseInt(until, 16) / page - at)
    readSync(pages, facts, 0, count * 8, at * 8)
    // A page that is present or swapped out has one of the two highest bits set.
    if (!Array.from({ length: count }, (_, index) => facts[index * 8 + 7]).some((byte) => byte >= 0x40)) continue
    try { bytes += readSync(memory, chunk, 0, count * page, at * page) } catch { continue }
    hits += chunk.latin1Slice(0, count * page).match(/secret-[0-9]{12}-of/g)?.length ?? 0
  }
}
chunk.fill(0);
`

for (const engine of [bun, node])
  describe(`a fork of ${engine.runtime}`, { skip: !canFork && 'behind namespaces, on x64' }, () =>
    tryForks(engine),
  )

/** On a busy machine an engine that was parked before the zygote stood may take a run. */
async function untilForked(attempt: () => Promise<RunResult>): Promise<RunResult> {
  for (let turn = 1; ; turn++) {
    const result = await attempt()
    assert.deepEqual(result.outcome, { kind: 'completed', exitCode: 0 }, result.stderr)
    if (result.receipt.start === 'forked') return result
    assert.ok(turn < 6, result.receipt.start)
  }
}

function tryForks(engine: typeof bun | typeof node): void {
  const fork = (request: Partial<RunRequest> & { readonly code: string }): Promise<RunResult> =>
    untilForked(async () => {
      await lazaret.warmUp({ ...engine })
      return run({ ...engine, ...request })
    })

  test('finds nothing in its memory of earlier or concurrent runs', async () => {
    const secret = 'secret-482915730264-of'
    const scan = `${scanMemory}\n[hits, bytes > 10_000_000]`
    const request: RunRequest = {
      ...engine,
      code: `globalThis.mine = '${secret}'.repeat(100); console.log(mine.length, await look(mine))\n${scan}`,
      input: { secret },
      args: [secret],
      stdin: secret,
      files: { [secret]: secret },
      functions: { look: () => secret },
    }
    await lazaret.warmUp({ ...engine, count: 4 })
    const { value, stderr } = await fork(request)
    assert.ok(Array.isArray(value) && Number(value[0]) > 0 && value[1] === true, stderr)
    const stay = new AbortController()
    const beside = lazaret.run({
      ...request,
      code: `globalThis.mine = '${secret}'; await new Promise(() => setInterval(() => {}, 1000))`,
      signal: stay.signal,
    })
    for (let time = 0; time < 6; time++) assert.deepEqual((await fork({ code: scan })).value, [0, true])
    stay.abort()
    assert.equal((await beside).outcome.kind, 'cancelled')
  })

  test('draws random numbers that no earlier fork has drawn', async () => {
    const code = `const { randomBytes } = require('node:crypto')
      ;[Math.random(), Math.random(), crypto.randomUUID(), randomBytes(8).toString('hex')]`
    const drawn: unknown[] = []
    for (let time = 0; time < 4; time++) drawn.push(...((await fork({ code })).value as unknown[]))
    assert.equal(new Set(drawn).size, 16, JSON.stringify(drawn))
  })

  /** Their descriptors, by their link in /proc: an inode that two forks share is the same object. */
  const listDescriptors = `
    const { readdirSync, readlinkSync, readFileSync } = require('node:fs')
    const things = readdirSync('/proc/self/fd').flatMap((fd) => {
      try {
        const target = readlinkSync('/proc/self/fd/' + fd)
        if (target.includes('eventfd')) return [/eventfd-id: *\\d+/.exec(readFileSync('/proc/self/fdinfo/' + fd, 'latin1'))?.[0]]
        return target.startsWith('pipe:') || target.startsWith('socket:') ? [target] : []
      } catch { return [] }
    })
    things`

  async function besideEachOther(forks: number): Promise<RunResult[]> {
    await lazaret.warmUp({ ...engine, count: forks })
    const gate = Promise.withResolvers<boolean>()
    let arrived = 0
    const wait = (): Promise<boolean> => {
      if (++arrived === forks) gate.resolve(true)
      return gate.promise
    }
    const request = { ...engine, code: `await wait()\n${listDescriptors}`, functions: { wait } }
    return Promise.all(Array.from({ length: forks }, () => run(request)))
  }

  test('shares no pipe, socket or eventfd with a concurrent fork', async () => {
    // On a busy machine an engine that was parked before the zygote stood may take one of the runs.
    let ends = await besideEachOther(4)
    for (let turn = 0; ends.some(({ receipt }) => receipt.start !== 'forked') && turn < 5; turn++)
      ends = await besideEachOther(4)
    for (const { receipt, stderr } of ends) assert.equal(receipt.start, 'forked', stderr)
    // Some have both ends of a pipe.
    const things = ends.map(({ value }) => [...new Set(value as string[])])
    assert.ok(things.every((own) => own.length > 3 && own.some((one) => one?.startsWith('eventfd-id'))))
    assert.equal(new Set(things.flat()).size, things.flat().length, JSON.stringify(things))
  })

  test('sees no process but its own, and reaches neither its zygote nor a sibling', async () => {
    const code = `
      const { readdirSync } = require('node:fs')
      const answer = (pid) => { try { return process.kill(pid, 0) } catch ({ code }) { return code } }
      // Threads have pids, too, and may start at any time.
      const others = Array.from({ length: 40 }, (_, index) => index + 2)
      const answers = others.map(answer)
      const own = readdirSync('/proc/self/task').map(Number)
      ;[
        readdirSync('/proc').filter((name) => +name).map(Number),
        process.ppid,
        others.filter((pid, index) => answers[index] !== 'ESRCH' && !own.includes(pid)),
        process.pid,
      ]`
    await lazaret.warmUp({ ...engine, count: 3 })
    const [pids, parent, answering, own] = (await fork({ code })).value as [
      number[],
      number,
      number[],
      number,
    ]
    assert.deepEqual([pids, parent, answering], [[1, own], 1, []])
  })

  test('has another memory layout than forks of other clients if each client has its own zygote', async () => {
    await using separate = createLazaret({ pools: { ...noPools, [engine.runtime]: { forks: 'client' } } })
    const code = `/^(\\w+)-.*libc\\.so/m.exec(require('node:fs').readFileSync('/proc/self/maps', 'latin1'))[1]`
    const layouts = new Map<string, Set<unknown>>()
    for (const client of ['ada', 'bob', 'ada', 'bob']) {
      const { value } = await untilForked(async () => {
        await separate.warmUp({ ...engine, client })
        return separate.run({ ...engine, code, client })
      })
      assert.equal(typeof value, 'string')
      layouts.set(client, (layouts.get(client) ?? new Set()).add(value))
    }
    const all = new Set([...layouts.values()].flatMap((own) => [...own]))
    assert.deepEqual([[...layouts.values()].map(({ size }) => size), all.size], [[1, 1], 2])
  })
}
